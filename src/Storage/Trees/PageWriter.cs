using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Memory;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// The pages of one merged batch of commands, in scratch, invisible to others until published. Each command can be undone alone:
/// its new pages are returned, and pages of earlier commands that it changed are restored from images.
/// </summary>
/// <remarks>
/// Invariants. 1. A page whose birth is <see cref="Birth"/> is the batch's own and is changed in place; every other page
/// is copied first. 2. A committed page that the batch frees stays in use until the batch is published, so undoing a command only
/// drops its entry in <c>_freed</c>. 3. <c>_written</c> has each of the batch's own pages once, or -1 where it was returned.
/// 4. Every line of a copied page that differs from its original is noted in its frame's record: the journal writes, and the next
/// copy takes over, no other lines. <see cref="Bytes"/> notes all lines; a caller of <see cref="Edit"/> notes what it changes.
/// 5. Images live as long as the command they were taken for. 6. <c>_bytes</c> counts the bytes of the batch's own pages that
/// were not returned.
/// </remarks>
internal sealed class PageWriter(PageStore store, FreePages space, PageLocator locator, BatchMemory memory)
{
    /// <summary>
    /// Maximum number of bytes of pages in one batch: they must fit into one journal frame, which must fit into one array.
    /// </summary>
    private const long MaxBytes = int.MaxValue - (1 << 20);

    /// <summary>
    /// Pages, free or at the end of the file, that only changes of existing pages may use: more than a delete copies that
    /// descends three levels in each of ten trees.
    /// </summary>
    public const int ReservedPages = 40;

    private readonly List<PageImage> _images = memory.Images;
    private List<WrittenPage> _written = memory.Written;
    private List<FreedRun> _freed = memory.Freed;
    private int _command;
    private int _writtenMark;
    private int _freedMark;
    private long _bytes;
    private Exception? _poison;

    /// <summary>The store from which pages are read.</summary>
    public PageStore Store => store;

    /// <summary>Working memory for changes of trees.</summary>
    public BatchMemory Memory => memory;

    /// <summary>First transaction of the batch: the birth of its pages.</summary>
    public long Birth { get; private set; }

    /// <summary>Whether a page was created or freed.</summary>
    public bool HasChanges => _written.Count > 0 || _freed.Count > 0;

    /// <summary>Number of pages created or copied so far.</summary>
    public int WrittenCount => _written.Count;

    /// <summary>The batch's own pages; an entry with number -1 was returned.</summary>
    public List<WrittenPage> Written => _written;

    /// <summary>Committed pages that the state after the batch no longer uses.</summary>
    public List<FreedRun> Freed => _freed;

    /// <summary>Number of freed runs so far.</summary>
    public int FreedCount => _freed.Count;

    /// <summary>Whether new pages of this command may use the reserve (<see cref="ReservedPages"/>).</summary>
    public bool MayUseReserve { get; set; }

    /// <summary>Prepares for the next batch; the previous one must be finished or undone.</summary>
    public void Begin(long birth)
    {
        Debug.Assert(birth >= Birth, "1: births ascend");
        Debug.Assert(_images.Count == 0, "5: a batch ends without images");
        memory.Clear();
        _written = memory.Written;
        _freed = memory.Freed;
        Birth = birth;
        MayUseReserve = false;
        _command = _writtenMark = _freedMark = 0;
        _bytes = 0;
        _poison = null;
    }

    /// <summary>Begins the next command: later changes belong to it.</summary>
    public void BeginCommand()
    {
        Debug.Assert(_images.Count == 0, "5: a command begins without images");
        _command++;
        MayUseReserve = false;
        locator.Reset();
        _writtenMark = _written.Count;
        _freedMark = _freed.Count;
        _poison = null;
    }

    /// <summary>
    /// Keeps the changes of the command. If the command swallowed the exception of one of its steps, throws it again: half a step
    /// must not be kept.
    /// </summary>
    public void EndCommand()
    {
        if (_poison is { } poison)
            throw new StorageException($"The command continued after an error that must end it: {poison.Message}", poison);

        Debug.Assert(
            _writtenMark <= _written.Count && _freedMark <= _freed.Count,
            "3: a command keeps the pages of those before it in their places");
        LoadFreed(_freedMark);
        DropImages();
    }

    /// <summary>Undoes the changes of the current command only.</summary>
    public void UndoCommand()
    {
        Debug.Assert(
            _writtenMark <= _written.Count && _freedMark <= _freed.Count, "3: pages of earlier commands stay in their places");
        for (int i = _images.Count - 1; i >= 0; i--)
            Restore(_images[i]);
        DropImages();
        for (int i = _written.Count - 1; i >= _writtenMark; i--)
            GiveBack(_written[i]);
        _written.RemoveRange(_writtenMark, _written.Count - _writtenMark);
        _freed.RemoveRange(_freedMark, _freed.Count - _freedMark);
    }

    /// <summary>Undoes the whole batch.</summary>
    public void Discard()
    {
        DropImages();
        foreach (WrittenPage page in _written)
            GiveBack(page);
        _written.Clear();
        _freed.Clear();
        Debug.Assert(_bytes == 0, "6: the bytes of pages are counted once");
    }

    /// <summary>Called after the last command: returns pages that were both created and freed within the batch.</summary>
    public void Finish()
    {
        DropImages();
        for (int i = _freed.Count - 1; i >= 0; i--)
        {
            if (_freed[i].Birth != Birth)
                continue;

            GiveBackOwn(_freed[i].Run.First);
            _freed.RemoveAt(i);
        }

        AssertWritten();
        LoadFreed(0); // catalogue and system tree belong to no command
    }

    /// <summary>Creates an empty page with a header.</summary>
    public PageReference New(uint treeId, PageType type, int level)
    {
        Debug.Assert(type != PageType.Overflow && level >= 0, "a page with a level is not the first of a run");
        long number = Allocate(1, out Span<byte> bytes, 0);
        bytes.Clear();
        _ = new Page(bytes)
        {
            Number = number,
            Birth = Birth,
            TreeId = treeId,
            Type = type,
            Level = level,
            HeapStart = PageLayout.SizeBytes,
        };
        return new PageReference(number, Birth);
    }

    /// <summary>
    /// Creates a page for a part of the contents of one of the batch's own pages: the journal may refer to the original of
    /// that page for both.
    /// </summary>
    public PageReference NewBeside(PageReference own, uint treeId, PageType type, int level)
    {
        Debug.Assert(own.Birth == Birth, "1: only one of the batch's own pages is divided");
        PageReference made = New(treeId, type, level);
        long from = _written[store.Scratch.Record(OwnFrame(own.Number)).Index].From;
        int index = store.Scratch.Record(OwnFrame(made.Number)).Index;
        Debug.Assert(_written[index].Number == made.Number, "3: a page knows its place in the list");
        _written[index] = _written[index] with { From = from };
        return made;
    }

    /// <summary>Creates an overflow run; the bytes of its value are undefined.</summary>
    public Span<byte> NewRun(uint treeId, int valueBytes, out PageReference reference)
    {
        Debug.Assert(valueBytes is >= 0 and <= FormatLimits.MaxValueBytes, "a run holds one value");
        long number = Allocate(PageLayout.RunPages(valueBytes), out Span<byte> bytes, 0);
        bytes[..PageLayout.HeaderBytes].Clear();
        bytes[(PageLayout.HeaderBytes + valueBytes)..].Clear();
        _ = new Page(bytes)
        {
            Number = number,
            Birth = Birth,
            TreeId = treeId,
            Type = PageType.Overflow,
            ValueLength = valueBytes,
        };
        reference = new PageReference(number, Birth);
        return bytes.Slice(PageLayout.HeaderBytes, valueBytes);
    }

    /// <summary>Returns the page itself if it is the batch's own; otherwise copies it and frees the original.</summary>
    public PageReference MakeWritable(PageReference reference, int level) =>
        reference.Birth == Birth ? reference : Copy(reference, store.Read(reference, level));

    /// <summary>
    /// Copies a page of an earlier batch, whose bytes the caller has read, to a new page, and frees the original.
    /// </summary>
    public PageReference Copy(PageReference reference, ReadOnlySpan<byte> original)
    {
        Debug.Assert(reference.Birth != Birth, "1: the batch's own pages are changed in place");
        long number = Allocate(1, out Span<byte> bytes, reference.Number, original);
        _ = new Page(bytes) { Number = number, Birth = Birth };
        Note(number, 0, PageLayout.HeaderBytes);
        _freed.Add(new FreedRun(new PageRun(reference.Number, 1), reference.Birth));
        return new PageReference(number, Birth);
    }

    /// <summary>Copies an overflow run to new pages, and frees the original.</summary>
    public PageReference MoveRun(OverflowReference run, uint treeId)
    {
        ReadOnlySpan<byte> value = store.ReadRun(run);
        value.CopyTo(NewRun(treeId, value.Length, out PageReference moved));
        Free(run);
        return moved;
    }

    /// <summary>Returns the bytes of one of the batch's own pages, for reading.</summary>
    public Span<byte> View(long number)
    {
        uint frame = locator.Get(number, out _);
        frame = frame != 0 ? frame : OwnFrame(number);
        Debug.Assert(store.Scratch.Record(frame).Page == number, "1: the frame is that of the page");
        return store.Scratch.Bytes(frame, PageLayout.SizeBytes);
    }

    /// <summary>Returns the bytes of one of the batch's own pages, for any changes.</summary>
    public Span<byte> Bytes(long number)
    {
        Span<byte> bytes = Edit(number);
        Note(number, LineSet.All);
        return bytes;
    }

    /// <summary>Notes which lines of a page were changed, or will be changed before its batch is closed.</summary>
    public void Note(long number, LineSet lines)
    {
        uint frame = locator.Get(number, out _);
        ref Scratch.FrameRecord record = ref store.Scratch.Record(frame != 0 ? frame : OwnFrame(number));
        Debug.Assert(record.Page == number && record.Birth == Birth, "4: changes are noted of the batch's own pages");
        record.Changed.Add(lines);
    }

    /// <summary>Like <see cref="Note(long, LineSet)"/>, for the lines of a range of bytes.</summary>
    public void Note(long number, int offset, int lengthBytes)
    {
        var lines = default(LineSet);
        lines.Add(offset, lengthBytes);
        Note(number, lines);
    }

    /// <summary>
    /// Writes a reference into one of the batch's own pages. Only the previous reference is kept for undo, not the whole page:
    /// each command of a batch changes only a few references of a shared branch.
    /// </summary>
    public void Patch(long number, int offset, PageReference reference)
    {
        uint frame = locator.Get(number, out bool isWritable);
        if (frame == 0)
            frame = OwnFrame(number);
        ref Scratch.FrameRecord record = ref store.Scratch.Record(frame);
        Debug.Assert(record.Birth == Birth, "1: only the batch's own pages are changed");
        Span<byte> place = store.Scratch.Bytes(frame, PageLayout.SizeBytes).Slice(offset, PageReference.PackedBytes);
        if (!isWritable && record.Command != _command)
            _images.Add(new PageImage(frame, 0, offset, PageReference.ReadPacked(place)));
        reference.WritePacked(place);
        record.Changed.Add(offset, PageReference.PackedBytes);
    }

    /// <summary>Returns the bytes of one of the batch's own pages, for changes that the caller notes (invariant 4).</summary>
    public Span<byte> Edit(long number)
    {
        uint frame = locator.Get(number, out bool isWritable);
        if (isWritable)
            return store.Scratch.Bytes(frame, PageLayout.SizeBytes);

        frame = OwnFrame(number);
        ref Scratch.FrameRecord record = ref store.Scratch.Record(frame);
        Debug.Assert(record.Birth == Birth, "1: only the batch's own pages are changed");
        Span<byte> bytes = store.Scratch.Bytes(frame, PageLayout.SizeBytes);
        if (record.Command != _command)
        {
            record.Command = _command;
            uint image = store.Scratch.Allocate(1, -1, Birth);
            bytes.CopyTo(store.Scratch.Bytes(image, PageLayout.SizeBytes));
            _images.Add(new PageImage(frame, image, 0, default));
        }

        locator.Set(number, frame, isWritable: true);
        return bytes;
    }

    /// <summary>Frees a page: the state after the batch does not use it.</summary>
    public void Free(PageReference reference) => Free(reference, pages: 1);

    /// <summary>Frees the pages of a value: the state after the batch does not use them.</summary>
    /// <exception cref="CorruptionException">The reference in the cell is impossible.</exception>
    public void Free(OverflowReference value) => Free(value.First, store.RunOf(value).Pages);

    private void Free(PageReference reference, int pages)
    {
        if (reference.Birth == Birth && store.Scratch.Record(OwnFrame(reference.Number)).Index >= _writtenMark)
            GiveBackOwn(reference.Number);
        else
            _freed.Add(new FreedRun(new PageRun(reference.Number, pages), reference.Birth));
    }

    /// <summary>
    /// Removes from the first <paramref name="count"/> freed runs those born up to a transaction, and returns them: a named
    /// snapshot still sees them.
    /// </summary>
    public List<FreedRun> TakeFreed(int count, long bornUpTo)
    {
        Debug.Assert((uint)count <= (uint)_freed.Count, "2: only runs that were freed are taken");
        var taken = new List<FreedRun>();
        int kept = 0;
        for (int i = 0; i < _freed.Count; i++)
        {
            if (i < count && _freed[i].Birth <= bornUpTo)
                taken.Add(_freed[i]);
            else
                _freed[kept++] = _freed[i];
        }

        Debug.Assert(kept + taken.Count == _freed.Count, "2: a freed run is either kept or taken");
        _freed.RemoveRange(kept, _freed.Count - kept);
        return taken;
    }

    /// <summary>Frees a run that an earlier transaction freed and that no named snapshot sees any more.</summary>
    public void FreeUnpinned(PageRun run, long runBirth, long freed) => _freed.Add(new FreedRun(run, runBirth, freed));

    /// <summary>
    /// Loads the bitmap groups needed for freeing. Pages are freed after the journal is written, where no error is allowed;
    /// an error here still undoes the command.
    /// </summary>
    private void LoadFreed(int from)
    {
        for (int i = from; i < _freed.Count; i++)
            space.Load(_freed[i].Run);
    }

    private long Allocate(int pages, out Span<byte> bytes, long from, ReadOnlySpan<byte> original = default)
    {
        Debug.Assert(
            from == 0 || (pages == 1 && original.Length == PageLayout.SizeBytes),
            "4: only a single page is copied, and whole");
        try
        {
            if (_bytes + ((long)pages * PageLayout.SizeBytes) > MaxBytes)
                throw new StorageException(
                    $"A transaction may change up to {MaxBytes >> 20} MiB of pages; write in smaller transactions.");

            long number = space.Allocate(pages);
            try
            {
                // Copies may use the reserve, new pages may not, so that deletes work on a full disk.
                store.GrowFile(
                    space.PageCount + (from == 0 && !MayUseReserve ? Math.Max(0, ReservedPages - space.FreeCount) : 0));
                bytes = from == 0
                    ? store.Place(number, pages, Birth, out uint frame)
                    : store.PlaceCopy(number, Birth, from, original, out frame);
                ref Scratch.FrameRecord record = ref store.Scratch.Record(frame);
                record.Command = _command;
                record.Index = _written.Count;
                record.Changed = from == 0 ? LineSet.All : default;
            }
            catch
            {
                space.Return(new PageRun(number, pages));
                throw;
            }

            _written.Add(new WrittenPage(number, from, pages));
            _bytes += (long)pages * PageLayout.SizeBytes;
            return number;
        }
        catch (Exception error)
        {
            _poison = error;
            throw;
        }
    }

    /// <summary>
    /// Returns the frame of a page of this batch. If there is none, although the parent says that the page was born in this
    /// batch, the parent is damaged.
    /// </summary>
    private uint OwnFrame(long number)
    {
        uint frame = store.FrameOf(number);
        return frame != 0 ? frame : throw store.Corrupt(number, $"its parent says that the running transaction {Birth} made it");
    }

    private void GiveBackOwn(long number)
    {
        int index = store.Scratch.Record(store.FrameOf(number)).Index;
        Debug.Assert(_written[index].Number == number, "3: a page is given back once");
        GiveBack(_written[index]);
        _written[index] = new WrittenPage(-1, 0, 0);
    }

    /// <summary>Asserts invariants 3 and 6.</summary>
    [Conditional("DEBUG")]
    private void AssertWritten()
    {
        long bytes = 0;
        for (int i = 0; i < _written.Count; i++)
        {
            WrittenPage page = _written[i];
            if (page.Number < 0)
                continue;

            bytes += (long)page.Pages * PageLayout.SizeBytes;
            uint frame = store.FrameOf(page.Number);
            Debug.Assert(frame != 0, "3: each of the batch's own pages has a frame");
            Debug.Assert(store.Scratch.Record(frame).Index == i, "3: a page knows its place in the list");
        }

        Debug.Assert(bytes == _bytes, "6: the bytes of pages are counted once");
    }

    private void GiveBack(WrittenPage page)
    {
        if (page.Number < 0)
            return;

        locator.Remove(page.Number);
        space.Return(new PageRun(page.Number, page.Pages));
        _bytes -= (long)page.Pages * PageLayout.SizeBytes;
        Debug.Assert(_bytes >= 0, "6: the bytes of pages are counted once");
    }

    private void Restore(PageImage image)
    {
        Debug.Assert(store.Scratch.Record(image.Frame).Birth == Birth, "1: only the batch's own pages are restored");
        Span<byte> bytes = store.Scratch.Bytes(image.Frame, PageLayout.SizeBytes);
        if (image.Image == 0)
            image.Before.WritePacked(bytes[image.Offset..]);
        else
            store.Scratch.Bytes(image.Image, PageLayout.SizeBytes).CopyTo(bytes);
    }

    private void DropImages()
    {
        foreach (PageImage image in _images)
            if (image.Image != 0)
                store.Scratch.Release(image.Image);
        _images.Clear();
    }

    /// <summary>
    /// A page or run of the batch, and the committed page from which it, or the page it was split from, was copied; 0 if
    /// none.
    /// </summary>
    internal readonly record struct WrittenPage(long Number, long From, int Pages);

    /// <summary>
    /// Pages freed by the batch, their birth, and the earlier transaction that freed them; 0 if it is this one.
    /// </summary>
    internal readonly record struct FreedRun(PageRun Run, long Birth, long Freed = 0);

    /// <summary>
    /// The earlier contents of a page that an earlier command made: a copy in a frame of its own or, if
    /// <paramref name="Image"/> is 0, only a reference in it. Images are restored from last to first, so that restoring a
    /// whole page is followed by restoring a reference written before that copy was made.
    /// </summary>
    internal readonly record struct PageImage(uint Frame, uint Image, int Offset, PageReference Before);
}
