using System.Globalization;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>
/// One salvage run: walks everything reachable from the roots and records what is lost; if anything is, searches for leaves
/// that only lost pages referred to; then copies tree by tree.
/// </summary>
internal sealed class SalvageRun(
    RecoveredState state, StorageEnvironment target, List<CheckProblem> problems, IProgress<CheckProgress>? progress,
    CancellationToken cancellationToken)
{
    private const int MaxProblems = 1000;
    private const int PagesPerReport = 256;

    private readonly PageStore _store = state.Store;
    private readonly PageSet _reached = new(state.PageCount);
    private readonly List<PageRun> _pinned = [];
    private readonly OrphanLeaves _orphans = new();
    private readonly SortedDictionary<string, TreeRecord?> _names = new(StringComparer.Ordinal);
    private readonly HashSet<string> _doubtfulNames = new(StringComparer.Ordinal);
    private readonly List<SalvagedTree> _trees = [];
    private long _problemCount = problems.Count;
    private bool _isSomethingLost;
    private bool _isSystemLost;
    private bool _isCatalogueLost;

    public SalvageReport Run()
    {
        var lostNames = new List<LostRange>();
        Snapshot? snapshot = state.State;
        _isCatalogueLost = snapshot is null;
        if (snapshot is not null)
        {
            MarkStore();
            MarkSystem(snapshot.System);
            NamedTrees.Read(_store, snapshot.Catalogue, _reached, (name, record) => _names[name] = record, lost =>
            {
                Report(lost, "(catalogue)");
                lostNames.Add(lost);
            }, cancellationToken);
            MarkNamed();
            MarkPinned(); // after all walks, which take a page that is marked already for a damaged one
        }

        if (_isSomethingLost || snapshot is null)
            FindOrphans(snapshot, lostNames);
        Copy();
        return new SalvageReport
        {
            TransactionId = snapshot?.TransactionId ?? -1,
            Trees = _trees,
            Problems = problems,
            ProblemCount = _problemCount
        };
    }

    /// <summary>Marks the pages of both bitmaps, which belong to no tree.</summary>
    private void MarkStore()
    {
        if (state.Meta is not { } meta)
            return;

        foreach (PageRun run in (ReadOnlySpan<PageRun>)[meta.Bitmap, meta.OtherBitmap])
            for (long page = run.First; page < run.First + run.Pages; page++)
                _reached.Add(page);
    }

    /// <summary>
    /// Marks the system tree, and collects the pages it keeps for named snapshots. Those are in use, but not by the newest
    /// state.
    /// </summary>
    private void MarkSystem(TreeRecord system)
    {
        long snapshots = 0;
        new LenientWalk(_store, _reached, cancellationToken).Run(
            system,
            (leaf, reference) =>
            {
                for (int i = 0; i < leaf.Count; i++)
                {
                    byte[] key = LenientWalk.KeyOf(leaf, i);
                    ReadOnlySpan<byte> value = leaf.Value(i, out bool isOverflow);
                    if (key.Length > 0 && key[0] == SystemKey.Name)
                        snapshots++;
                    for (;
                         !isOverflow && SystemKey.IsPinned(key) && value.Length >= SystemKey.RunBytes;
                         value = value[SystemKey.RunBytes..])
                    {
                        PinnedRun pinned = PinnedRun.Read(value, 0);
                        if (pinned.IsWithin(state.PageCount))
                        {
                            _pinned.Add(pinned.Run);
                            continue;
                        }

                        _isSystemLost = true;
                        Report(
                            new CheckProblem(
                                _store.Path, reference.Number, "(system)",
                                $"{pinned.Run.Pages} pages from {pinned.Run.First} on are said to be kept for a snapshot."));
                    }
                }
            },
            lost =>
            {
                _isSystemLost = true;
                Report(lost, "(system)");
            });
        if (snapshots > 0 || _isSystemLost)
            Report(
                new CheckProblem(
                    _store.Path, null, "(system)",
                    $"{snapshots} named snapshots are not carried over: a salvage brings back the newest state."));
    }

    /// <summary>Marks the pages kept for named snapshots.</summary>
    private void MarkPinned()
    {
        foreach (PageRun run in _pinned)
            for (long page = run.First; page < run.First + run.Pages; page++)
                _reached.Add(page);
    }

    /// <summary>Marks everything that the known names refer to.</summary>
    private void MarkNamed()
    {
        long done = 0;
        foreach ((string name, TreeRecord? known) in _names)
        {
            if (known is not { } record)
            {
                Report(new CheckProblem(_store.Path, null, name, "Its record in the catalogue is invalid."));
                continue;
            }

            if (record.Kind != TreeKind.Tree)
            {
                MapSalvage.Mark(_store, record, _reached, cancellationToken);
                continue;
            }

            new LenientWalk(_store, _reached, cancellationToken).Run(
                record,
                (leaf, _) =>
                {
                    MarkRuns(leaf);
                    if (++done % PagesPerReport == 0)
                        progress?.Report(new CheckProgress("pages", _reached.Count, state.PageCount));
                },
                lost => Report(lost, name));
        }
    }

    private void MarkRuns(SlottedPage leaf)
    {
        for (int i = 0; i < leaf.Count; i++)
        {
            ReadOnlySpan<byte> value = leaf.Value(i, out bool isOverflow);
            if (!isOverflow)
                continue;

            OverflowReference run = OverflowReference.ReadPacked(value);
            for (int page = 0; run.IsPossible && page < run.Run.Pages; page++)
                _reached.Add(run.First.Number + page);
        }
    }

    /// <summary>
    /// Scans the remaining pages for orphan leaves, and adds names from orphan leaves of the catalogue so that their trees
    /// are copied too.
    /// </summary>
    private void FindOrphans(Snapshot? snapshot, List<LostRange> lostNames)
    {
        _orphans.Scan(state, _reached, !_isSystemLost && !state.HasBrokenPages, progress, cancellationToken);
        _isCatalogueLost |= lostNames.Count > 0;
        if (snapshot is null)
            lostNames.Add(new LostRange(null, null, new PageReference(0, long.MaxValue), 1, ""));
        foreach (LostRange lost in lostNames)
        {
            foreach (OrphanLeaves.Orphan orphan in _orphans.Take(_store, TreeRecord.CatalogueId, lost))
            {
                NamedTrees.ReadLeaf(new SlottedPage(_store.Read(orphan.Page)), (name, record) =>
                {
                    if (_names.TryAdd(name, record) && !orphan.IsCertain)
                        _doubtfulNames.Add(name);
                });
            }
        }
    }

    private void Copy()
    {
        long done = 0;
        foreach ((string name, TreeRecord? known) in _names)
        {
            progress?.Report(new CheckProgress("trees", done++, _names.Count));
            if (known is not { } record || name.Length == 0)
                _trees.Add(Failed(name, "Its record in the catalogue is invalid.", null));
            else if (record.Kind == TreeKind.Tree)
                _trees.Add(Doubt(name, Salvage(name).Run(record)));
            else
                _trees.Add(Doubt(name, new MapSalvage(_store, target, name, cancellationToken).Run(record)));
        }

        if (!_isCatalogueLost)
            return; // every tree has its name, so other pages belong to trees that no longer exist

        // Not null: filtered.
        HashSet<uint> ids =
        [
            .. _names.Values.Where(record => record is not null).Select(record => record!.Value.Id), TreeRecord.CatalogueId,
            TreeRecord.SystemId
        ];
        foreach (uint id in _orphans.Trees.Where(id => !ids.Contains(id)).Order().ToArray())
            _trees.Add(Salvage(LostName(id)).RunLost(id));
        foreach ((uint id, long pages) in _orphans.MapPages.Where(map => !ids.Contains(map.Key)).OrderBy(map => map.Key))
            _trees.Add(
                Failed(
                    LostName(id), $"It is a hash map whose record in the catalogue is lost; {pages} pages of it are left.",
                    null));
    }

    private TreeSalvage Salvage(string name) => new(_store, state.PageCount, _orphans, target, name, cancellationToken);

    private string LostName(uint id)
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"lost-tree-{id}");
        while (_names.ContainsKey(name))
            name += "'";
        return name;
    }

    private SalvagedTree Doubt(string name, SalvagedTree tree) => _doubtfulNames.Contains(name)
        ? tree with { DoubtfulKeys = tree.Keys, DoubtfulRanges = [new KeyRange(null, null)] }
        : tree;

    private static SalvagedTree Failed(string name, string why, long? expected) => new()
    {
        Name = name,
        Keys = 0,
        ExpectedKeys = expected,
        DoubtfulKeys = 0,
        LostValues = 0,
        DamagedPages = 0,
        MissingRanges = [new KeyRange(null, null)],
        DoubtfulRanges = [],
        Failure = why,
    };

    private void Report(LostRange lost, string tree)
    {
        _isSomethingLost = true;
        Report(new CheckProblem(_store.Path, lost.Page.Number, tree, lost.Why));
    }

    private void Report(CheckProblem problem)
    {
        if (_problemCount++ < MaxProblems)
            problems.Add(problem);
    }
}
