namespace Treepie.Storage.Trees;

/// <summary>
/// How many pages of trees one transaction has entered, descending or scanning: the same number for the same work, whether or not
/// the pages were in memory.
/// </summary>
internal sealed class PageVisits
{
    public long Count { get; set; }
}
