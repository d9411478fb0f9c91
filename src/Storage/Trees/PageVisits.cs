namespace Treepie.Storage.Trees;

/// <summary>
/// Counts the tree pages that a transaction has entered by descending or scanning: the same number for the same work, whether
/// or not the pages were in memory.
/// </summary>
internal sealed class PageVisits
{
    public long Count { get; set; }
}
