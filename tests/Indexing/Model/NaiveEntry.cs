using System.Collections.Immutable;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Tests.Model;

/// <summary>An entry as the naive evaluator keeps it: its values by field, in the order in which they were added.</summary>
public sealed record NaiveEntry(string Key, long Order, ImmutableDictionary<int, ImmutableList<FieldValue>> Values)
{
    public ImmutableList<FieldValue> Of(int field) => Values.GetValueOrDefault(field, []);

    public bool Has(int field) => Values.ContainsKey(field);
}
