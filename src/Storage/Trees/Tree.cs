using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// An ordered map from bytes to bytes (a B+tree) in a transaction. Keys are compared as unsigned bytes; the empty key is valid.
/// Returned spans are valid until a read transaction is disposed, or until the next change in a write transaction.
/// </summary>
public sealed class Tree
{
    /// <summary>The maximum length of a key in bytes.</summary>
    public const int MaxKeyBytes = FormatLimits.MaxKeyBytes;

    /// <summary>The maximum length of a value in bytes.</summary>
    public const int MaxValueBytes = FormatLimits.MaxValueBytes;

    private readonly PageStore _store;
    private readonly bool _isWritable;
    private readonly PageVisits? _visits;
    private TreeWriter? _writer;

    internal Tree(PageStore store, string name, TreeRecord record, TreeWriter? writer, PageVisits? visits = null)
    {
        _store = store;
        _visits = visits;
        Name = name;
        Record = record;
        _writer = writer;
        _isWritable = writer is not null;
        writer?.Begin(this);
        Debug.Assert(record.Levels is >= 0 and <= TreeRecord.MaxLevels, "a path has room for every level");
    }

    /// <summary>The name of the tree.</summary>
    public string Name { get; }

    /// <summary>The number of keys.</summary>
    public long Count => Record.Count;

    /// <summary>The current root, number of levels and number of keys.</summary>
    internal TreeRecord Record { get; set; }

    /// <summary>Increases with every change, so that cursors notice it.</summary>
    internal int Changes { get; private set; }

    internal PageStore Store => _store;

    /// <summary>
    /// Gets the value of <paramref name="key"/>, in place in its page; returns false if it does not exist. Values of any size are
    /// one span.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public bool TryGet(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        Visit(Record.Levels);
        return TryGet(_store, Record, key, out value);
    }

    /// <summary>
    /// Finds where the value of a key is stored, for callers that read it repeatedly in the same state; returns false if the
    /// key does not exist. The pages of this descent are not counted; the caller counts the pages it enters later.
    /// </summary>
    internal bool TryLocate(scoped ReadOnlySpan<byte> key, out ValuePlace place)
    {
        place = default;
        if (Record.Levels == 0)
            return false;

        SlottedPage leaf = Above(key, level: 0, out PageReference reference);
        int index = leaf.LowerBound(key, 0, out bool isExact);
        if (!isExact)
            return false;

        ReadOnlySpan<byte> value = leaf.Value(index, out bool isRun);
        place = isRun && OverflowReference.ReadPacked(value) is var run
            ? new ValuePlace(run.First, Offset: 0, run.LengthBytes)
            : new ValuePlace(reference, leaf.ValueOffset(index), value.Length);
        return true;
    }

    /// <summary>
    /// Starts reading ahead the leaves between two keys that have not been read yet, as far as the branch above the first key
    /// and the branch after it refer to them: for a scan that follows. Waits for no leaf and counts no visits.
    /// </summary>
    internal void Announce(scoped ReadOnlySpan<byte> from, scoped ReadOnlySpan<byte> to)
    {
        if (Record.Levels < 2)
            return;

        SlottedPage branch = Above(from, level: 1, out _);
        int first = branch.FindChild(from), last = branch.FindChild(to);
        if (last > first && (_store.IsUnseen(branch.Child(first + 1).Number) || _store.IsUnseen(branch.Child(last).Number)))
            AnnounceChildren(branch, first, last);
        if (last < branch.Count - 1 || Record.Levels < 3)
            return;

        SlottedPage above = Above(from, level: 2, out _);
        int next = above.FindChild(from) + 1;
        if (next >= above.Count || next > above.FindChild(to))
            return;
        branch = new SlottedPage(_store.Enter(above.Child(next), level: 1));
        AnnounceChildren(branch, 0, branch.FindChild(to));
    }

    private void AnnounceChildren(SlottedPage branch, int first, int last)
    {
        var pages = new PageAnnouncement(_store);
        for (int i = first; i <= last; i++)
            pages.Add(branch.Child(i).Number);
        pages.End();
    }

    /// <summary>
    /// Like <see cref="Announce"/>, for the runs of up to <paramref name="count"/> long values from a key on, within its
    /// leaf.
    /// </summary>
    internal void AnnounceRuns(scoped ReadOnlySpan<byte> from, int count)
    {
        if (Record.Levels == 0)
            return;

        SlottedPage leaf = Above(from, level: 0, out _);
        var pages = new PageAnnouncement(_store);
        int first = leaf.LowerBound(from, 0, out _);
        for (int i = first; i < leaf.Count && i < first + count; i++)
        {
            ReadOnlySpan<byte> value = leaf.Value(i, out bool isRun);
            if (isRun && OverflowReference.ReadPacked(value).Run is var run)
                pages.Add(run.First, run.Pages);
        }

        pages.End();
    }

    /// <summary>Returns the page of a level on the path to a key.</summary>
    private SlottedPage Above(scoped ReadOnlySpan<byte> key, int level, out PageReference reference)
    {
        Debug.Assert(level >= 0 && level < Record.Levels, "a level of this tree");
        reference = Record.Root;
        for (int at = Record.Levels - 1; at > level; at--)
        {
            var branch = new SlottedPage(_store.Enter(reference, at));
            reference = branch.Child(branch.FindChild(key));
        }

        return new SlottedPage(_store.Enter(reference, level));
    }

    /// <summary>Returns the value at a place that <see cref="TryLocate"/> found in the same state.</summary>
    internal ReadOnlySpan<byte> ReadAt(ValuePlace place) => place.IsRun
        ? _store.ReadRun(new OverflowReference(place.Page, place.Length))
        : _store.Read(place.Page, 0).Slice(place.Offset, place.Length);

    /// <summary>
    /// Prefetches the head of the page that contains a value and returns the span of the value, so that the caller can
    /// prefetch parts of it before <see cref="ReadAt"/>. The page is not verified yet, so the span must not be read. Empty if
    /// the page was never read, or ends before the value begins.
    /// </summary>
    internal ReadOnlySpan<byte> Expect(ValuePlace place)
    {
        ReadOnlySpan<byte> page = _store.Expect(place.Page.Number);
        int start = place.IsRun ? PageLayout.HeaderBytes : place.Offset;
        return start > page.Length ? default : page[start..Math.Min(page.Length, start + place.Length)];
    }

    /// <summary>Returns whether a key exists.</summary>
    public bool Contains(scoped ReadOnlySpan<byte> key) => TryGet(key, out _);

    /// <summary>Sets the value of a key; returns true if the key is new.</summary>
    /// <exception cref="ArgumentException">The key or value is too long.</exception>
    /// <exception cref="InvalidOperationException">The tree belongs to a read transaction, or to a write command that has
    /// returned.</exception>
    /// <exception cref="DiskFullException">The disk is full. The whole command is undone if this is not caught; if it is caught,
    /// the command must end.</exception>
    public bool Put(scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value)
    {
        value.CopyTo(Change(key, value.Length).Put(key, value.Length, out bool isNew));
        return isNew;
    }

    /// <summary>
    /// Allocates a value of the specified length and returns its zeroed span, to be filled before the next change.
    /// </summary>
    /// <exception cref="ArgumentException">The key or value is too long.</exception>
    /// <exception cref="InvalidOperationException">The tree belongs to a read transaction, or to a write command that has
    /// returned.</exception>
    public Span<byte> Reserve(scoped ReadOnlySpan<byte> key, int lengthBytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(lengthBytes);
        Span<byte> room = Change(key, lengthBytes).Put(key, lengthBytes, out _);
        room.Clear();
        return room;
    }

    /// <summary>Removes a key; returns false if it does not exist.</summary>
    /// <exception cref="InvalidOperationException">The tree belongs to a read transaction, or to a write command that has
    /// returned.</exception>
    public bool Delete(scoped ReadOnlySpan<byte> key) => Change(key, 0).Delete(key);

    /// <summary>
    /// Opens a cursor before the first key. In a write transaction, any change of the tree invalidates the cursor's position:
    /// seek again.
    /// </summary>
    public Cursor OpenCursor() => new(this);

    /// <summary>
    /// Packs leaves that random changes have left partly empty, so that the tree has fewer pages with the same content. One call
    /// does a bounded amount of work: a few hundred pages.
    /// </summary>
    /// <param name="from">The key at which to continue; empty for the start.</param>
    /// <param name="savedPages">The number of pages freed.</param>
    /// <returns>The key at which to continue in a later transaction; null at the end.</returns>
    /// <exception cref="InvalidOperationException">The tree belongs to a read transaction, or to a write command that has
    /// returned.</exception>
    public byte[]? Pack(scoped ReadOnlySpan<byte> from, out int savedPages) => Change(from, 0).Pack(from, out savedPages);

    /// <summary>Measures the size of the tree. Reads all its pages, so it should not be called frequently.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public TreeSize Measure(CancellationToken cancellationToken = default) =>
        new TreeMeasure(_store, cancellationToken).Of(Record);

    /// <summary>
    /// Like <see cref="TryGet(ReadOnlySpan{byte}, out ReadOnlySpan{byte})"/>, for a single lookup without a
    /// <see cref="Tree"/> object.
    /// </summary>
    internal static bool TryGet(
        PageStore store, scoped in TreeRecord record, scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (record.Levels == 0)
            return false;

        PageReference reference = record.Root;
        for (int level = record.Levels - 1; level > 0; level--)
        {
            var branch = new SlottedPage(store.Enter(reference, level));
            reference = branch.Child(branch.FindChild(key));
        }

        var leaf = new SlottedPage(store.Enter(reference, 0));
        int index = leaf.LowerBound(key, 0, out bool isExact);
        if (!isExact)
            return false;

        value = ReadValue(store, leaf, index);
        return true;
    }

    /// <summary>Returns the value of a leaf's entry, from the leaf or from a run.</summary>
    internal static ReadOnlySpan<byte> ReadValue(PageStore store, SlottedPage leaf, int index)
    {
        Span<byte> value = leaf.Value(index, out bool isOverflow);
        return isOverflow
            ? store.ReadRun(OverflowReference.ReadPacked(value))
            : value;
    }

    /// <summary>Frees every page; the tree may not be changed afterwards.</summary>
    internal void Drop()
    {
        Change(default, 0).Drop();
        _writer = null;
    }

    /// <summary>Counts entered pages, if the transaction counts them.</summary>
    internal void Visit(int pages)
    {
        Debug.Assert(pages >= 0, "visits are only added");
        if (_visits is { } visits)
            visits.Count += pages;
    }

    /// <summary>Refuses changes from now on.</summary>
    internal void End() => _writer = null;

    /// <summary>Points an internal tree of the engine to another state.</summary>
    internal void Renew(TreeRecord record)
    {
        Debug.Assert(record.Id == Record.Id, "another state of a tree is of the same tree");
        Record = record;
        _writer?.Begin(this);
    }

    private TreeWriter Change(scoped ReadOnlySpan<byte> key, int valueBytes)
    {
        if (!_isWritable)
            throw new InvalidOperationException(
                $"The tree '{Name}' belongs to a read transaction; change it in StorageEnvironment.Write.");

        if (_writer is null)
            throw new InvalidOperationException(
                $"The tree '{Name}' can no longer be changed: it was dropped, or its write transaction has ended, which is valid "
                    + $"only inside its command.");
        if (key.Length > MaxKeyBytes)
            throw new ArgumentException($"A key has at most {MaxKeyBytes} bytes; this one has {key.Length}.", nameof(key));
        if (valueBytes > MaxValueBytes)
            throw new ArgumentException(
                $"A value has at most {MaxValueBytes} bytes; this one has {valueBytes}.", nameof(valueBytes));

        Changes++;
        return _writer;
    }
}
