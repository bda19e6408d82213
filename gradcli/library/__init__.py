"""Modules written in the language, such as `nn/linear.grad`, each with the program that it becomes
beside it: `python -m gradcli.ahead` writes these, and the index of their names.
"""
