using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>A source without documents, for results computed from the index. Holds the index until it is disposed.</summary>
internal sealed class ComputedSource(IndexSearcher searcher, Action release) : ResultSource
{
    public override long TotalCount => 0;

    public override Document Current =>
        throw new InvalidOperationException("The results of this query are computed, as facets are: they are no documents.");

    public override bool MoveNext() => false;

    public override void Dispose()
    {
        searcher.Dispose();
        release();
    }
}
