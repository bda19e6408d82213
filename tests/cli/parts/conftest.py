"""Settings of the tests that work with clusters."""

import os

# workers that tests have killed leave folders, which the next worker would look through: in threads
# of the tests' process, where the audit counts what is listed
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__USE_FILE_LOCKING", "false")
