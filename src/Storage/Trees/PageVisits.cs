namespace Treepie.Storage.Trees;

/// <summary>
/// How often pages of trees were entered on the way down or along, by one transaction: the same for the same work, wherever the
/// pages were.
/// </summary>
internal sealed class PageVisits
{
    public long Count { get; set; }
}
