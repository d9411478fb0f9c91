using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>No documents.</summary>
internal sealed class EmptySource : ResultSource
{
    public override long TotalCount => 0;

    public override Document Current => throw new InvalidOperationException("No result is current.");

    public override bool MoveNext() => false;

    public override void Dispose()
    {
        // Holds nothing.
    }
}
