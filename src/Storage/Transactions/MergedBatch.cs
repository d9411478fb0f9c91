using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// A batch of commands: its pages and its changes to the catalogue. Each command can be undone alone. The object is reused
/// for one batch after another, so that a commit does not allocate it.
/// </summary>
internal sealed class MergedBatch
{
    private const int MaxKeptWriters = 64;

    private readonly PageStore _store;
    private readonly TimeProvider _clock;
    private readonly BatchMemory _memory;
    private readonly Tree _catalogue;
    private readonly List<TreeWriter> _writers = [];
    private int _writersTaken;
    private Snapshot _basis;
    private uint _treeIdMark;

    public MergedBatch(PageStore store, FreePages space, Snapshot basis, PageLocator locator, TimeProvider clock)
    {
        _store = store;
        _clock = clock;
        _basis = basis;
        _memory = new BatchMemory(isSecret: store.Decrypted is not null);
        Pages = new PageWriter(store, space, locator, _memory);
        _catalogue = new Tree(store, "", basis.Catalogue, new TreeWriter(store, Pages));
        Snapshots = new SnapshotChanges(basis.Named);
        Named = basis.Named;
    }

    /// <summary>The pages of the batch.</summary>
    public PageWriter Pages { get; }

    /// <summary>First transaction of the batch.</summary>
    public long Birth => Pages.Birth;

    /// <summary>The catalogue with the changes of the batch, once finished.</summary>
    public TreeRecord Catalogue { get; private set; }

    /// <summary>The system tree with the changes of the batch, once finished.</summary>
    public TreeRecord System { get; private set; }

    /// <summary>The named snapshots after the batch, once finished.</summary>
    public NamedSnapshots Named { get; private set; }

    /// <summary>What the commands did to named snapshots.</summary>
    public SnapshotChanges Snapshots { get; private set; }

    /// <summary>The id the next new tree gets.</summary>
    public uint NextTreeId { get; set; }

    /// <summary>Random value from which the seeds of new maps are derived.</summary>
    public ulong HashSeed { get; init; }

    /// <summary>Pages of the catalogue and system tree to relocate when the batch ends.</summary>
    public MoveChoice Move { get; set; }

    /// <summary>Whether anything was changed.</summary>
    public bool HasChanges =>
        Pages.HasChanges
            || Trees.Count > 0
            || Snapshots.Any
            || !Move.IsNone
            || (Snapshots.IsCleaning && _basis.Named.Dropped.Count > 0);

    private Dictionary<string, TreeRecord?> Trees => _memory.Trees;

    /// <summary>Prepares for the next batch, based on the state left by the previous one.</summary>
    public void Begin(Snapshot basis)
    {
        _basis = basis;
        Pages.Begin(basis.TransactionId + 1);
        Catalogue = basis.Catalogue;
        System = basis.System;
        Named = basis.Named;
        Debug.Assert(Trees.Count == 0 && !Pages.HasChanges, "a batch begins with nothing changed");
        NextTreeId = basis.NextTreeId;
        Move = default;
        if (!Snapshots.IsUnusedOn(basis.Named))
            Snapshots = new SnapshotChanges(basis.Named);
    }

    /// <summary>Records that a command creates a named snapshot.</summary>
    public SnapshotInfo CreateSnapshot(string name, long transaction) =>
        Snapshots.Create(name, transaction, _clock.GetUtcNow().ToUnixTimeMilliseconds());

    /// <summary>Returns a writer for a tree of the running command; the next command reuses it for another tree.</summary>
    public TreeWriter TakeTreeWriter()
    {
        if (_writersTaken == _writers.Count)
        {
            if (_writers.Count == MaxKeptWriters)
                return new TreeWriter(_store, Pages);
            _writers.Add(new TreeWriter(_store, Pages));
        }

        return _writers[_writersTaken++];
    }

    /// <summary>Begins the next command: changes from here on belong to it.</summary>
    public void BeginCommand()
    {
        _writersTaken = 0;
        Pages.BeginCommand();
        Snapshots.BeginCommand();
        _treeIdMark = NextTreeId;
    }

    /// <summary>Undoes the changes of the current command only.</summary>
    public void UndoCommand()
    {
        Pages.UndoCommand();
        Snapshots.UndoCommand();
        Debug.Assert(NextTreeId >= _treeIdMark, "ids of trees ascend");
        NextTreeId = _treeIdMark;
    }

    /// <summary>
    /// Writes the changed trees into the catalogue, and returns pages that were both made and freed within the batch.
    /// </summary>
    public void Finish()
    {
        Pages.BeginCommand();
        Tree catalogue = _catalogue;
        catalogue.Renew(Catalogue);
        Span<byte> value = stackalloc byte[TreeRecord.SizeBytes];
        Span<byte> room = stackalloc byte[Transactions.Catalogue.StackBytes];
        foreach ((string name, TreeRecord? record) in Trees)
        {
            ReadOnlySpan<byte> key = Transactions.Catalogue.KeyOf(name, room);
            if (record is { } kept)
            {
                kept.Write(value);
                catalogue.Put(key, value);
            }
            else
            {
                catalogue.Delete(key);
            }
        }

        if (!Move.IsNone)
            new TreeMover(catalogue, Pages, Move, _basis.Named.Newest).Run([]);
        Catalogue = catalogue.Record;
        if (!Move.IsNone || Snapshots.Any || _basis.Named.All.Count > 0 || _basis.Named.Dropped.Count > 0)
            FinishSnapshots();
        Pages.Finish();
    }

    /// <summary>
    /// Writes named-snapshot records. They may use the space reserved for deletes: dropping a snapshot must work on a full
    /// disk.
    /// </summary>
    private void FinishSnapshots()
    {
        Pages.MayUseReserve = true;
        var system = new Tree(_store, "", System, new TreeWriter(_store, Pages));
        Named = Snapshots.Write(system, Pages, Catalogue, NextTreeId);
        if (!Move.IsNone)
            new TreeMover(system, Pages, Move, seenUpTo: -1).Run([]);
        System = system.Record;
    }

    /// <summary>Returns the tree of that name as left by the commands so far.</summary>
    public TreeRecord? FindTree(string name) =>
        Trees.TryGetValue(name, out TreeRecord? record) ? record : Transactions.Catalogue.Find(_store, _basis.Catalogue, name);

    /// <summary>Records a command's change of a tree; null if it was dropped.</summary>
    public void SetTree(string name, TreeRecord? record)
    {
        if (Trees.ContainsKey(name) || Transactions.Catalogue.Find(_store, _basis.Catalogue, name) != record)
            Trees[name] = record;
    }

    /// <summary>Returns the names of all trees of a kind as of now, in no order.</summary>
    public IEnumerable<string> ReadNames(TreeKind kind)
    {
        var names = new HashSet<string>(Transactions.Catalogue.ReadNames(_store, _basis.Catalogue, kind), StringComparer.Ordinal);
        foreach ((string name, TreeRecord? record) in Trees)
        {
            if (record?.Kind == kind)
                names.Add(name);
            else
                names.Remove(name);
        }

        return names;
    }
}
