namespace Treepie.Indexing.Searching;

/// <summary>A list of entry ids that is reused between queries.</summary>
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
