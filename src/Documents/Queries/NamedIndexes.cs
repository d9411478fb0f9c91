using Treepie.Indexes;
using Treepie.Rql;

namespace Treepie.Queries;

/// <summary>Indexes that queries name.</summary>
internal static class NamedIndexes
{
    /// <summary>Returns the index of a name.</summary>
    /// <exception cref="IndexNotFoundException">It does not exist; the message has a similar name, if there is one.</exception>
    public static DocumentIndex Require(IndexCatalogue indexes, string name) =>
        indexes.Find(name)
            ?? throw new IndexNotFoundException(
                name, RqlAdvice.DidYouMean(name, indexes.Definitions().Select(static definition => definition.Name)));
}
