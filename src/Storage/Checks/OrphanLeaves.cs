using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>
/// Leaves that no walk reached, found by scanning every page of the file. If the bitmap says that a page is in use and no
/// readable page refers to it, a lost page did: such a leaf is certain. If the bitmap is not reliable, the leaf may be from
/// an older state, whose pages stay unchanged until they are reused: such a leaf is doubtful. A leaf that the bitmap says is
/// free is from an older state and is ignored.
/// </summary>
internal sealed class OrphanLeaves
{
    private const int PagesPerReport = 1024;

    private readonly Dictionary<uint, List<Orphan>> _byTree = [];

    /// <summary>The ids of trees that have such leaves.</summary>
    public IEnumerable<uint> Trees => _byTree.Keys;

    /// <summary>
    /// The number of unreferenced hash map pages in use, by tree id. A map cannot be rebuilt without the directory pages that
    /// refer to them.
    /// </summary>
    public Dictionary<uint, long> MapPages { get; } = [];

    /// <summary>The number of pages in use that cannot be read.</summary>
    public long Unreadable { get; private set; }

    /// <summary>Scans all pages except those reached.</summary>
    public void Scan(
        RecoveredState state, PageSet reached, bool isBitmapOfOneState, IProgress<CheckProgress>? progress,
        CancellationToken cancellationToken)
    {
        for (long page = FormatLimits.FirstDataPage; page < state.PageCount; page++)
        {
            if (page % PagesPerReport == 0)
                progress?.Report(new CheckProgress("lost pages", page, state.PageCount));
            cancellationToken.ThrowIfCancellationRequested();
            bool? isLive = state.Live.IsLive(page);
            if (reached.Contains(page) || isLive == false)
                continue;
            if (!state.Store.TryRead(page, out Span<byte> bytes))
            {
                Unreadable++;
                continue;
            }

            var header = new Page(bytes);
            if (header.Type is PageType.MapDirectory or PageType.MapBucket)
                MapPages[header.TreeId] = MapPages.GetValueOrDefault(header.TreeId) + 1;
            if (header.Number != page || header.Type != PageType.Leaf || header.Count == 0)
                continue;

            if (!_byTree.TryGetValue(header.TreeId, out List<Orphan>? leaves))
                _byTree.Add(header.TreeId, leaves = []);
            leaves.Add(new Orphan(page, header.Birth, isLive == true && isBitmapOfOneState));
        }
    }

    /// <summary>
    /// Removes and returns the leaves of a tree that may have been below a lost page: certain ones first, then by descending
    /// birth.
    /// </summary>
    public List<Orphan> Take(PageStore store, uint tree, LostRange range)
    {
        if (!_byTree.TryGetValue(tree, out List<Orphan>? leaves))
            return [];

        List<Orphan> taken = leaves.FindAll(leaf =>
        {
            if (leaf.Birth > range.Page.Birth)
                return false;

            var page = new SlottedPage(store.Read(leaf.Page));
            return range.CanHold(LenientWalk.KeyOf(page, 0), LenientWalk.KeyOf(page, page.Count - 1));
        });
        var gone = taken.ToHashSet();
        leaves.RemoveAll(gone.Contains);
        taken.Sort((a, b) => a.IsCertain != b.IsCertain ? b.IsCertain.CompareTo(a.IsCertain) : b.Birth.CompareTo(a.Birth));
        return taken;
    }

    /// <summary>A leaf that nothing refers to.</summary>
    internal readonly record struct Orphan(long Page, long Birth, bool IsCertain);
}
