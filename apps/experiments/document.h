#pragma once

#include <string>
#include <vector>

namespace lase {

// A table of texts, for people and for programs.
struct TextTable {
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};

  std::string markdown() const;
  std::string csv() const;
  std::string html() const;
};

// What an experiment found. The parts in the order in which they are read.
struct Document {
  std::string name = {};   // of its files: table3
  std::string title = {};  // Table 3: …
  std::string text = {};   // paragraphs, separated by empty lines; plain
  TextTable table = {};    // for people
  TextTable values = {};   // for programs: NAME.csv
  std::string svg = {};    // a picture, or empty
  std::string page = {};   // a file beside that shows more, or empty
  std::string notes = {};  // below all; plain

  // The picture is named beside the text.
  std::string markdown() const;
  std::string html() const;  // a section of a page, the picture within
};

// One page without links to anything outside.
std::string html_page(const std::string& title, const std::vector<Document>& documents);

// 0.783 ± 0.002, or 0.783 where there is one value only.
std::string score_text(double mean, double error);

}  // namespace lase
