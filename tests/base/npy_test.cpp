#include "lase/base/npy.h"

#include <cmath>

#include "lase/base/file.h"

#include "support.h"

namespace lase {
namespace {

class Npy : public FolderTest {
 protected:
  NpyMatrix read(const std::string& text) const { return read_npy(write("a.npy", text)); }
  void expect_values(const std::string& text, const Floats& expected) const {
    const auto matrix = read(text);
    EXPECT_EQ(Floats(matrix.values.begin(), matrix.values.end()), expected) << text;
  }
};

template <class T>
std::string two_values(const std::string& descr, T a, T b) {
  return npy(descr, "(2,)", bytes_of(std::vector<T>{a, b}));
}

TEST_F(Npy, ReadsEveryNumberType) {
  expect_values(two_values<uint8_t>("|b1", 0, 1), {0, 1});
  expect_values(two_values<uint8_t>("|u1", 0, 255), {0, 255});
  expect_values(two_values<int8_t>("|i1", -128, 127), {-128, 127});
  expect_values(two_values<uint16_t>("<u2", 1, 65535), {1, 65535});
  expect_values(two_values<int16_t>("<i2", -32768, 3), {-32768, 3});
  expect_values(two_values<uint16_t>("<f2", 0x3C00, 0xC100), {1, -2.5});
  expect_values(two_values<uint32_t>("<u4", 1, 4294967295), {1, 4294967296.0F});
  expect_values(two_values<int32_t>("<i4", -5, 6), {-5, 6});
  expect_values(two_values<float>("<f4", 0.1F, -3e38F), {0.1F, -3e38F});
  expect_values(two_values<uint64_t>("<u8", 1, 1ULL << 63), {1, 9223372036854775808.0F});
  expect_values(two_values<int64_t>("<i8", -7, 8), {-7, 8});
  expect_values(two_values<double>("<f8", 0.1, -2), {0.1F, -2});
}

TEST_F(Npy, ReadsOneDimensionAsOneColumn) {
  const auto matrix = read(two_values<float>("<f4", 1, 2));
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.columns, 1);
}

TEST_F(Npy, ReadsRowsAndFortranOrder) {
  const std::string bytes = bytes_of(Floats{1, 2, 3, 4, 5, 6});
  expect_values(npy("<f4", "(2, 3)", bytes), {1, 2, 3, 4, 5, 6});
  const auto matrix = read(npy("<f4", "(2, 3)", bytes, true));
  EXPECT_EQ(Floats(matrix.values.begin(), matrix.values.end()), (Floats{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.columns, 3);
}

TEST_F(Npy, ReadsTheLongHeaderOfVersionTwo) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n";
  std::string text("\x93NUMPY\x02\x00", 8);
  text += static_cast<char>(header.size());
  text += std::string(3, '\0') + header + bytes_of(Floats{9});
  expect_values(text, {9});
}

TEST_F(Npy, ReadsAnEmptyMatrix) {
  EXPECT_EQ(read(npy("<f4", "(0, 3)", "")).columns, 3);
  EXPECT_EQ(read(npy("<f4", "(0, 3)", "")).rows, 0);
}

// The size of the file does not limit the dimensions of an empty matrix.
TEST_F(Npy, HandlesLargeDimensionsOfAnEmptyMatrix) {
  EXPECT_EQ(read(npy("<f4", "(9223372036854775807, 0)", "")).columns, 0);
  expect_error([&] { read(npy("<f4", "(0, 9223372036854775807)", "")); },
               {"9223372036854775807 columns, but no rows"});
}

TEST_F(Npy, RejectsFilesThatAreTruncatedOrTooLong) {
  const std::string whole = npy("<f4", "(2, 3)", bytes_of(Floats(6)));
  for (const size_t size :
       {whole.size() - 1, whole.size() - 24, size_t{40}, size_t{11}, size_t{0}}) {
    expect_error([&] { read(whole.substr(0, size)); }, {"a.npy: "});
  }
  expect_error([&] { read(whole + "x"); }, {"(2, 3)", "does not match", "25 bytes"});
}

TEST_F(Npy, RejectsWrongShapes) {
  const std::string bytes = bytes_of(Floats(6));
  for (const auto* shape : {"(3, 3)", "(4611686018427387904, 4611686018427387904)", "(-2, -3)",
                            "(9999999999999999999999,)", "(a,)", "", "(2, 3, 1)", "()"}) {
    expect_error([&] { read(npy("<f4", shape, bytes)); }, {"a.npy: "});
  }
}

TEST_F(Npy, RejectsOtherTypesAndFiles) {
  const std::string bytes(8, '\0');
  for (const auto* descr : {">f4", "<c8", "|O", "<U1", "<f16", "<f3", ""}) {
    expect_error([&] { read(npy(descr, "(2,)", bytes)); }, {"a.npy: has dtype", descr});
  }
  expect_error([&] { read("id,label\n1,2\n3,4\n"); }, {"is not a NumPy .npy file"});
  expect_error([&] { read(std::string("\x93NUMPY\x01\x00\x04\x00{}  ", 14)); }, {"no 'descr'"});
  expect_error([&] { read_npy(path("none.npy")); }, {"none.npy: cannot be opened"});
}

TEST_F(Npy, RejectsNonFiniteValues) {
  expect_error(
      [&] {
        read(npy("<f4", "(2, 2)", bytes_of(Floats{1, 2, 3, NAN})));
      },
      {"row 1, column 1", "nan"});
  expect_error([&] { read(two_values<double>("<f8", -HUGE_VAL, 1)); }, {"row 0", "-inf"});
}

TEST_F(Npy, RejectsDoublesThatOverflowFloat) {
  expect_error([&] { read(two_values<double>("<f8", 1, 1e300)); }, {"row 1", "1e+300"});
}

TEST_F(Npy, RoundTrips) {
  const Floats values = {1, -2.5F, 3e-40F, 4, 5, 6};
  write_npy(path("b.npy"), values, 3, 2);
  const auto matrix = read_npy(path("b.npy"));
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.columns, 2);
  EXPECT_EQ(Floats(matrix.values.begin(), matrix.values.end()), values);
  EXPECT_EQ((read_file(path("b.npy")).size() - 24) % 64, 0u);  // NumPy maps aligned data
}

}  // namespace
}  // namespace lase
