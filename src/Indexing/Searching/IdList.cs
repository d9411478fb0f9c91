namespace Treepie.Indexing.Searching;

/// <summary>A list of entries that one query fills and the next may have after it.</summary>
internal sealed class IdList : IReusable
{
    private const int MostKept = 1_024;

    /// <summary>The list.</summary>
    public List<long> Ids { get; private set; } = [];

    /// <inheritdoc/>
    public void Clear()
    {
        if (Ids.Capacity > MostKept)
            Ids = [];
        Ids.Clear();
    }
}
