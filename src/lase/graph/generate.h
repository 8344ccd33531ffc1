#pragma once

#include <functional>
#include <string>

#include "lase/graph/planted.h"

namespace lase {

// Streams a planted graph to a graph file: memory holds the arcs, never features or attributes.
void generate_graph(const PlantedOptions& options, const std::string& path);

// Stand-ins with the sizes of the paper's table 2: reddit, dblp, email, fmobile.
PlantedOptions stand_in(const std::string& name, uint64_t seed);

struct MailOptions {
  int64_t people = 400;
  int64_t contacts = 30'000;
  uint64_t seed = 1;
};

const OptionTable<MailOptions>& mail_option_table();

// Writes contacts.csv (source, target, time) and people.csv (id, department, split, years, level)
// into a folder: e-mails in a company over a year. Departments work on projects at their own times,
// so that it is when people write to whom that tells where they belong.
void generate_mail(const MailOptions& options, const std::string& folder);

}  // namespace lase
