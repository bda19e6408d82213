; Floats as `repr` writes them; `machine_texts.py` adds the tables, and says whose digits they are:
; @powers: powers of ten from -292 to 324, to 128 bits; @tens: those of 64 bits; @pairs: two digits

declare i64 @llvm.ctlz.i64(i64, i1)

; the product of a number and a power of ten without its last 64 bits, odd if these are not zero
define internal i64 @scaled(i128 %power, i64 %number) alwaysinline {
  %bits = trunc i128 %power to i64
  %low = zext i64 %bits to i128
  %high = lshr i128 %power, 64
  %times = zext i64 %number to i128
  %small = mul i128 %low, %times
  %carried = lshr i128 %small, 64
  %large = mul i128 %high, %times
  %product = add i128 %large, %carried
  %upper = lshr i128 %product, 64
  %whole = trunc i128 %upper to i64
  %rest = trunc i128 %product to i64
  %is_more = icmp ugt i64 %rest, 1
  %odd = zext i1 %is_more to i64
  %found = or i64 %whole, %odd
  ret i64 %found
}

; digits and power of ten of a positive float, given as its bits
define internal {i64, i64} @shortest(i64 %bits) {
  %fraction = and i64 %bits, 4503599627370495
  %exponent = lshr i64 %bits, 52
  %is_normal = icmp ne i64 %exponent, 0
  %full = or i64 %fraction, 4503599627370496
  %c = select i1 %is_normal, i64 %full, i64 %fraction
  %biased = select i1 %is_normal, i64 %exponent, i64 1
  %q = sub i64 %biased, 1075
  %behind = sub i64 0, %q
  %may_be_whole = icmp ult i64 %behind, 53
  br i1 %may_be_whole, label %look, label %general
look:
  %first = shl i64 1, %behind
  %mask = sub i64 %first, 1
  %part = and i64 %c, %mask
  %is_whole = icmp eq i64 %part, 0
  br i1 %is_whole, label %whole, label %general
whole:
  %int = lshr i64 %c, %behind
  %int_0 = insertvalue {i64, i64} undef, i64 %int, 0
  %int_1 = insertvalue {i64, i64} %int_0, i64 0, 1
  ret {i64, i64} %int_1
general:
  %odd = and i64 %c, 1
  %is_power = icmp eq i64 %fraction, 0
  %has_lower = icmp ugt i64 %exponent, 1
  %is_closer = and i1 %is_power, %has_lower
  %closer = zext i1 %is_closer to i64
  %middle = shl i64 %c, 2
  %below = sub i64 %middle, 2
  %left = add i64 %below, %closer
  %right = add i64 %middle, 2
  %q_log = mul i64 %q, 1262611
  %three_quarters = select i1 %is_closer, i64 524031, i64 0
  %log = sub i64 %q_log, %three_quarters
  %k = ashr i64 %log, 22
  %power = sub i64 0, %k
  %power_log = mul i64 %power, 1741647
  %power_bits = ashr i64 %power_log, 19
  %both_bits = add i64 %q, %power_bits
  %h = add i64 %both_bits, 1
  %place = sub i64 %power, -292
  %power_at = getelementptr i128, ptr @powers, i64 %place
  %ten = load i128, ptr %power_at
  %left_h = shl i64 %left, %h
  %middle_h = shl i64 %middle, %h
  %right_h = shl i64 %right, %h
  %from = call i64 @scaled(i128 %ten, i64 %left_h)
  %v = call i64 @scaled(i128 %ten, i64 %middle_h)
  %to = call i64 @scaled(i128 %ten, i64 %right_h)
  %lower = add i64 %from, %odd
  %upper = sub i64 %to, %odd
  %s = lshr i64 %v, 2
  %has_tens = icmp uge i64 %s, 10
  br i1 %has_tens, label %tens, label %ones
tens:
  %t = udiv i64 %s, 10
  %t_4 = mul i64 %t, 40
  %next_t_4 = add i64 %t_4, 40
  %t_reads = icmp ule i64 %lower, %t_4
  %next_t_reads = icmp ule i64 %next_t_4, %upper
  %one_t_reads = xor i1 %t_reads, %next_t_reads
  br i1 %one_t_reads, label %ten_found, label %ones
ten_found:
  %t_more = zext i1 %next_t_reads to i64
  %t_digits = add i64 %t, %t_more
  %t_k = add i64 %k, 1
  %t_0 = insertvalue {i64, i64} undef, i64 %t_digits, 0
  %t_1 = insertvalue {i64, i64} %t_0, i64 %t_k, 1
  ret {i64, i64} %t_1
ones:
  %s_4 = shl i64 %s, 2
  %next_s_4 = add i64 %s_4, 4
  %half = add i64 %s_4, 2
  %s_reads = icmp ule i64 %lower, %s_4
  %next_s_reads = icmp ule i64 %next_s_4, %upper
  %one_s_reads = xor i1 %s_reads, %next_s_reads
  %is_above = icmp ugt i64 %v, %half
  %is_half = icmp eq i64 %v, %half
  %is_odd = trunc i64 %s to i1
  %to_even = and i1 %is_half, %is_odd
  %is_closer_to_next = or i1 %is_above, %to_even
  %takes_next = select i1 %one_s_reads, i1 %next_s_reads, i1 %is_closer_to_next
  %s_more = zext i1 %takes_next to i64
  %s_digits = add i64 %s, %s_more
  %s_0 = insertvalue {i64, i64} undef, i64 %s_digits, 0
  %s_1 = insertvalue {i64, i64} %s_0, i64 %k, 1
  ret {i64, i64} %s_1
}

; write the digits of an int that has so many
define internal void @digits(i64 %int, i64 %count, ptr %at) alwaysinline {
entry:
  br label %look
look:
  %left = phi i64 [%int, %entry], [%hundreds, %two]
  %end = phi i64 [%count, %entry], [%start, %two]
  %start = sub i64 %end, 2
  %start_at = getelementptr i8, ptr %at, i64 %start
  %is_long = icmp uge i64 %left, 100
  br i1 %is_long, label %two, label %last
two:
  %hundreds = udiv i64 %left, 100
  %of_hundreds = mul i64 %hundreds, 100
  %pair = sub i64 %left, %of_hundreds
  %pair_2 = shl i64 %pair, 1
  %pair_at = getelementptr i8, ptr @pairs, i64 %pair_2
  %signs = load i16, ptr %pair_at, align 1
  store i16 %signs, ptr %start_at, align 1
  br label %look
last:
  %is_two = icmp uge i64 %left, 10
  br i1 %is_two, label %last_two, label %last_one
last_two:
  %left_2 = shl i64 %left, 1
  %left_at = getelementptr i8, ptr @pairs, i64 %left_2
  %left_signs = load i16, ptr %left_at, align 1
  store i16 %left_signs, ptr %start_at, align 1
  ret void
last_one:
  %digit = trunc i64 %left to i8
  %sign = add i8 %digit, 48
  store i8 %sign, ptr %at
  ret void
}

define internal ptr @three(ptr %at, i8 %a, i8 %b, i8 %c) alwaysinline {
  store i8 %a, ptr %at
  %at_1 = getelementptr i8, ptr %at, i64 1
  store i8 %b, ptr %at_1
  %at_2 = getelementptr i8, ptr %at, i64 2
  store i8 %c, ptr %at_2
  %end = getelementptr i8, ptr %at, i64 3
  ret ptr %end
}

; write a float as `repr` does; the end of its text
define internal ptr @number(double %x, ptr %start) {
entry:
  %bits = bitcast double %x to i64
  %size = and i64 %bits, 9223372036854775807
  %is_nan = icmp ugt i64 %size, 9218868437227405312
  br i1 %is_nan, label %nan, label %signed
nan:
  %nan_end = call ptr @three(ptr %start, i8 110, i8 97, i8 110)
  ret ptr %nan_end
signed:
  store i8 45, ptr %start
  %is_negative = icmp slt i64 %bits, 0
  %step = zext i1 %is_negative to i64
  %at = getelementptr i8, ptr %start, i64 %step
  switch i64 %size, label %usual [i64 0, label %zero
                                  i64 9218868437227405312, label %infinite]
zero:
  %zero_end = call ptr @three(ptr %at, i8 48, i8 46, i8 48)
  ret ptr %zero_end
infinite:
  %infinite_end = call ptr @three(ptr %at, i8 105, i8 110, i8 102)
  ret ptr %infinite_end
usual:
  %found = call {i64, i64} @shortest(i64 %size)
  %found_0 = extractvalue {i64, i64} %found, 0
  %found_1 = extractvalue {i64, i64} %found, 1
  br label %strip
strip:
  %int = phi i64 [%found_0, %usual], [%tenth, %strip_one]
  %k = phi i64 [%found_1, %usual], [%next_k, %strip_one]
  %tenth = udiv i64 %int, 10
  %tenths = mul i64 %tenth, 10
  %ends_in_zero = icmp eq i64 %tenths, %int
  br i1 %ends_in_zero, label %strip_one, label %stripped
strip_one:
  %next_k = add i64 %k, 1
  br label %strip
stripped:
  %zeros = call i64 @llvm.ctlz.i64(i64 %int, i1 true)
  %length = sub i64 64, %zeros
  %log = mul i64 %length, 1233
  %about = lshr i64 %log, 12
  %ten_at = getelementptr i64, ptr @tens, i64 %about
  %ten = load i64, ptr %ten_at
  %has_more = icmp uge i64 %int, %ten
  %more = zext i1 %has_more to i64
  %count = add i64 %about, %more
  %point = add i64 %count, %k
  %above = add i64 %point, 3
  %is_plain = icmp ult i64 %above, 20
  br i1 %is_plain, label %plain, label %with_exponent
plain:
  %is_small = icmp sle i64 %point, 0
  br i1 %is_small, label %small, label %not_small
small:
  %behind = call ptr @three(ptr %at, i8 48, i8 46, i8 48)
  %behind_end = call ptr @three(ptr %behind, i8 48, i8 48, i8 48)
  %first = sub i64 2, %point
  %first_at = getelementptr i8, ptr %at, i64 %first
  call void @digits(i64 %int, i64 %count, ptr %first_at)
  %small_end = getelementptr i8, ptr %first_at, i64 %count
  ret ptr %small_end
not_small:
  %is_whole = icmp sge i64 %point, %count
  br i1 %is_whole, label %whole, label %split
whole:
  call void @digits(i64 %int, i64 %count, ptr %at)
  br label %fill
fill:
  %place = phi i64 [%count, %whole], [%next_place, %fill_one]
  %place_at = getelementptr i8, ptr %at, i64 %place
  %is_full = icmp eq i64 %place, %point
  br i1 %is_full, label %filled, label %fill_one
fill_one:
  store i8 48, ptr %place_at
  %next_place = add i64 %place, 1
  br label %fill
filled:
  store i8 46, ptr %place_at
  %last_at = getelementptr i8, ptr %place_at, i64 1
  store i8 48, ptr %last_at
  %whole_end = getelementptr i8, ptr %place_at, i64 2
  ret ptr %whole_end
split:
  %shifted = getelementptr i8, ptr %at, i64 1
  call void @digits(i64 %int, i64 %count, ptr %shifted)
  br label %move
move:
  %moved = phi i64 [0, %split], [%next_moved, %move]
  %to = getelementptr i8, ptr %at, i64 %moved
  %next_moved = add i64 %moved, 1
  %from = getelementptr i8, ptr %at, i64 %next_moved
  %sign = load i8, ptr %from
  store i8 %sign, ptr %to
  %is_moved = icmp eq i64 %next_moved, %point
  br i1 %is_moved, label %apart, label %move
apart:
  %point_at = getelementptr i8, ptr %at, i64 %point
  store i8 46, ptr %point_at
  %split_end = getelementptr i8, ptr %shifted, i64 %count
  ret ptr %split_end
with_exponent:
  %second = getelementptr i8, ptr %at, i64 1
  call void @digits(i64 %int, i64 %count, ptr %second)
  %first_digit = load i8, ptr %second
  store i8 %first_digit, ptr %at
  store i8 46, ptr %second
  %is_one = icmp eq i64 %count, 1
  %all_end = getelementptr i8, ptr %second, i64 %count
  %e_at = select i1 %is_one, ptr %second, ptr %all_end
  store i8 101, ptr %e_at
  %e = sub i64 %point, 1
  %is_below = icmp slt i64 %e, 0
  %e_sign = select i1 %is_below, i8 45, i8 43
  %e_sign_at = getelementptr i8, ptr %e_at, i64 1
  store i8 %e_sign, ptr %e_sign_at
  %minus_e = sub i64 0, %e
  %e_size = select i1 %is_below, i64 %minus_e, i64 %e
  %e_digits = getelementptr i8, ptr %e_at, i64 2
  %has_hundreds = icmp uge i64 %e_size, 100
  %hundreds = udiv i64 %e_size, 100
  %e_first = trunc i64 %hundreds to i8
  %e_first_sign = add i8 %e_first, 48
  store i8 %e_first_sign, ptr %e_digits
  %e_step = zext i1 %has_hundreds to i64
  %e_pair_at = getelementptr i8, ptr %e_digits, i64 %e_step
  %e_pair = urem i64 %e_size, 100
  %e_pair_2 = shl i64 %e_pair, 1
  %pair_at = getelementptr i8, ptr @pairs, i64 %e_pair_2
  %pair = load i16, ptr %pair_at, align 1
  store i16 %pair, ptr %e_pair_at, align 1
  %e_end = getelementptr i8, ptr %e_pair_at, i64 2
  ret ptr %e_end
}

; write a matrix of floats, a row a line, and the places of the line ends; the length of the text
define i64 @lines(ptr %numbers, i64 %rows, i64 %width, i8 %sign, ptr %text, ptr %ends) {
entry:
  %is_empty = icmp eq i64 %rows, 0
  br i1 %is_empty, label %done, label %row
row:
  %i = phi i64 [0, %entry], [%next_i, %row_end]
  %row_at = phi ptr [%text, %entry], [%next, %row_end]
  %before = mul i64 %i, %width
  br label %cell
cell:
  %j = phi i64 [0, %row], [%next_j, %cell]
  %at = phi ptr [%row_at, %row], [%next, %cell]
  %place = add i64 %before, %j
  %x_at = getelementptr double, ptr %numbers, i64 %place
  %x = load double, ptr %x_at
  %end = call ptr @number(double %x, ptr %at)
  store i8 %sign, ptr %end
  %next = getelementptr i8, ptr %end, i64 1
  %next_j = add i64 %j, 1
  %is_last = icmp eq i64 %next_j, %width
  br i1 %is_last, label %row_end, label %cell
row_end:
  store i8 10, ptr %end
  %end_int = ptrtoint ptr %end to i64
  %text_int = ptrtoint ptr %text to i64
  %end_place = sub i64 %end_int, %text_int
  %end_at = getelementptr i64, ptr %ends, i64 %i
  store i64 %end_place, ptr %end_at
  %next_i = add i64 %i, 1
  %is_over = icmp eq i64 %next_i, %rows
  br i1 %is_over, label %done, label %row
done:
  %length = phi i64 [-1, %entry], [%end_place, %row_end]
  %size = add i64 %length, 1
  ret i64 %size
}
