using Treepie.Store;

namespace Treepie.Queries.TimeSeries;

/// <summary>Where a time series is read: in a snapshot, or in a transaction that has changes of its own.</summary>
/// <param name="Items">The entries.</param>
/// <param name="Load">Returns the body of a document by its id, or null if there is none.</param>
internal sealed record SeriesSource(KindItems Items, Func<string, byte[]?> Load)
{
    public static SeriesSource Of(DatabaseSnapshot snapshot) => new(
        snapshot.Kinds, id => snapshot.TryGet(id, out Document document) ? document.Body.ToArray() : null);
}
