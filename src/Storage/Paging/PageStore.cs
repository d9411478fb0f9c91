using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// Translates page numbers to memory: a page is in scratch or in the map of the data file. One flat table of 4 bytes per page
/// answers both that and whether the page was verified on first touch: 0 not yet verified, 1 in the map and verified, otherwise
/// its scratch frame. Any number of threads may read, by one load; only the one writer may change it. In an encrypted store
/// "in the map" means decrypted, at the same offset of another range: see <see cref="DecryptedPages"/>. Table and map form a
/// <see cref="PageSpace"/>, which is replaced when the file outgrows it: so an entry and the bytes it leads to must be taken
/// from the same space.
/// </summary>
/// <remarks>
/// Invariants. 1. A page has at most one frame that readers find; only a forgotten page number can be placed. 2. The table
/// has an entry for every placed page and for every page of the file. 3. A page that readers find in the map is in the file.
/// </remarks>
internal sealed class PageStore : IDisposable
{
    private const int AnyLength = 0; // expected length of a page read without a reference to it
    private const uint NotLookedAt = 0;
    private const uint InMap = 1;
    private const long MinGrowthPages = 32; // 256 KiB
    private const long MaxGrowthPages = 8192; // 64 MiB

    private readonly IFile _file;
    private readonly PageSpaces _spaces;
    private readonly string _path;
    private readonly long _limitPages;
    private PageSpace _space;
    private long _filePages;

    public PageStore(IFileSystem files, IFile file, StorageOptions options, StoreCipher? cipher = null)
    {
        long maxFileBytes = options.MaxDataFileBytes;
        _file = file;
        _path = System.IO.Path.Combine(files.Path, file.Name);
        _limitPages = maxFileBytes / PageLayout.SizeBytes;
        _spaces = new PageSpaces(
            files, file, options.FirstReserveBytes / PageLayout.SizeBytes, _limitPages, isEncrypted: cipher is not null);
        _space = _spaces.Last;
        bool canSpill = cipher is null && !options.ReadOnly && files.CanSpill;
        UnwrittenBudgetBytes = canSpill
            ? options.ScratchBudgetBytes
            : Math.Min(options.ScratchBudgetBytes, options.MemoryBudgetBytes);
        Scratch = new Scratch(
            options.ScratchReserveBytes, options.MemoryBudgetBytes, isSecret: cipher is not null,
            canSpill ? () => files.CreateSpill(Scratch.ArenaBytes) : null,
            Math.Max(0, UnwrittenBudgetBytes - options.MemoryBudgetBytes),
            files.Calls,
            2 * options.FirstReserveBytes);
        Decrypted = cipher is null ? null : new DecryptedPages(cipher, _space, InMap, () => DecryptedBudget(options));
        Proofs = new PageProofs(() => Space, isReadInMap: Decrypted is null && _space.Map.SeesWrites, InMap);
        long pages = file.Length / PageLayout.SizeBytes;
        if (pages > _limitPages)
            throw new StorageException(
                $"'{_path}' has {file.Length} bytes, more than StorageOptions.MaxDataFileBytes ({maxFileBytes}); raise it.");

        _space.Map.Grow(pages * PageLayout.SizeBytes);
        Decrypted?.Commit(pages);
        _filePages = pages;
    }

    /// <summary>The data file, for error messages.</summary>
    public string Path => _path;

    /// <summary>The decrypted pages of the file; null in an unencrypted store.</summary>
    public DecryptedPages? Decrypted { get; }

    /// <summary>Withdraws the verified state of pages.</summary>
    public PageProofs Proofs { get; }

    /// <summary>Memory of pages that are not in the file yet.</summary>
    public Scratch Scratch { get; }

    /// <summary>Maximum number of bytes of pages that may wait for a checkpoint.</summary>
    public long UnwrittenBudgetBytes { get; }

    /// <summary>Size of the data file in bytes.</summary>
    public long FileBytes => Volatile.Read(ref _filePages) * PageLayout.SizeBytes;

    /// <summary>Number of pages the file has room for.</summary>
    public long FilePages => Volatile.Read(ref _filePages);

    /// <summary>Maximum number of pages of the file.</summary>
    public long LimitPages => _limitPages;

    /// <summary>Number of pages for which addresses are reserved: every page ever used has a lower number.</summary>
    public long RoomPages => Space.Count;

    /// <summary>The current address space.</summary>
    internal PageSpace Space => Volatile.Read(ref _space);

    /// <summary>Returns the bytes of a page, verified on first touch.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Read(long number)
    {
        PageSpace space = Volatile.Read(ref _space);
        uint entry = space.Find(number);
        if (entry > InMap)
            return Scratch.Bytes(entry, PageLayout.SizeBytes);
        if (entry == InMap)
            return space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes);
        return Prove(number, pages: 1).Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes);
    }

    /// <summary>
    /// Prefetches a page into the processor's cache before it is read; does nothing for a page not verified yet.
    /// </summary>
    public void Prefetch(long number) => CacheLines.PrefetchWhole(Seen(number));

    /// <summary>Like <see cref="Prefetch"/>, but only the head, for a page with few entries or of which few are read.</summary>
    public void PrefetchHead(long number) => CacheLines.PrefetchHead(Seen(number));

    /// <summary>Returns a page without verifying it, or empty if it is not verified yet.</summary>
    private Span<byte> Seen(long number)
    {
        PageSpace space = Volatile.Read(ref _space);
        uint entry = space.Find(number);
        return entry > InMap
            ? Scratch.Bytes(entry, PageLayout.SizeBytes)
            : entry == InMap ? space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes) : default;
    }

    /// <summary>
    /// Prefetches the header of a page and returns its span, for prefetching more of it. The span must not be read before
    /// <see cref="Read(PageReference)"/>. Empty for a page not verified yet.
    /// </summary>
    public ReadOnlySpan<byte> Expect(long number)
    {
        Span<byte> page = Seen(number);
        if (!page.IsEmpty)
            CacheLines.PrefetchFirst(page);
        return page;
    }

    /// <summary>Returns the bytes of a page, checking that its birth is the one recorded by its parent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Read(PageReference reference)
    {
        Span<byte> bytes = Read(reference.Number);
        if (new Page(bytes).Birth != reference.Birth)
            ThrowOtherBirth(reference, bytes);
        return bytes;
    }

    /// <summary>
    /// Like <see cref="Read(PageReference)"/>, also checking the level: so a wrong reference neither causes an endless
    /// descent nor lets one kind of entry be read as another.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Read(PageReference reference, int level)
    {
        Span<byte> bytes = Read(reference);
        if (new Page(bytes).ReadUInt16(PageLayout.TypeOffset) != PageShape.KindOf(level))
            ThrowOtherKind(reference.Number, level, bytes);
        return bytes;
    }

    /// <summary>
    /// Like <see cref="Read(PageReference, int)"/>, for a page to be searched: prefetches its key heads together with its
    /// header.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Enter(PageReference reference, int level)
    {
        Span<byte> bytes = Read(reference.Number);
        CacheLines.Prefetch(bytes);
        var page = new Page(bytes);
        if (page.Birth != reference.Birth)
            ThrowOtherBirth(reference, bytes);
        if (page.ReadUInt16(PageLayout.TypeOffset) != PageShape.KindOf(level))
            ThrowOtherKind(reference.Number, level, bytes);
        return bytes;
    }

    /// <summary>Returns the value in an overflow run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // the span has exactly the length that the cell names
    public Span<byte> ReadRun(OverflowReference value) => ReadRun(value.First, value.LengthBytes);

    private Span<byte> ReadRun(PageReference reference, int valueBytes)
    {
        // Looked up once: a checkpoint may move the run meanwhile from scratch to the file, where it is not verified yet.
        PageSpace space = Volatile.Read(ref _space);
        uint frame = space.Find(reference.Number);
        if (frame == NotLookedAt)
            space = Prove(reference.Number, PageLayout.RunPages(valueBytes));
        Span<byte> bytes = frame > InMap
            ? Scratch.Bytes(frame, PageLayout.SizeBytes)
            : space.Span(reference.Number * PageLayout.SizeBytes, PageLayout.SizeBytes);
        var page = new Page(bytes);
        if (page.Birth != reference.Birth)
            ThrowOtherBirth(reference, bytes);
        if (page.Type != PageType.Overflow || page.ValueLength != valueBytes)
            throw Corrupt(
                reference.Number,
                $"a value of {valueBytes} bytes was expected, type {page.Type} with {page.ValueLength} bytes found");

        int length = PageLayout.HeaderBytes + valueBytes;
        Span<byte> run = frame > InMap
            ? Scratch.Bytes(frame, length)
            : space.Span(reference.Number * PageLayout.SizeBytes, length);
        return run[PageLayout.HeaderBytes..];
    }

    /// <summary>Returns the scratch frame of a page, or 0 if it is not in scratch.</summary>
    public uint FrameOf(long number)
    {
        uint entry = Space.Find(number);
        return entry > InMap ? entry : 0;
    }

    /// <summary>Allocates scratch memory for a page or run and publishes it to readers. Its bytes are undefined.</summary>
    public Span<byte> Place(long number, int pages, long birth, out uint frame)
    {
        Debug.Assert(number >= FormatLimits.FirstDataPage && number + pages <= _space.Count, "2: a page is in the table");
        Debug.Assert(FrameOf(number) == 0, "1: a page has one frame");
        Proofs.Damaged.Remove(number);
        frame = Scratch.Allocate(pages, number, birth);
        _space.Write(number, frame);
        return Scratch.Bytes(frame, (int)Math.Min((long)pages * PageLayout.SizeBytes, int.MaxValue));
    }

    /// <summary>Like <see cref="Place"/>, for a copy of a page whose bytes the caller has already read.</summary>
    public Span<byte> PlaceCopy(long number, long birth, long from, ReadOnlySpan<byte> original, out uint frame)
    {
        Debug.Assert(number >= FormatLimits.FirstDataPage && number < _space.Count, "2: a page is in the table");
        Debug.Assert(number != from && FrameOf(number) == 0, "1: a page has one frame");
        Proofs.Damaged.Remove(number);
        frame = Scratch.AllocateCopy(FrameOf(from), original, number, birth);
        _space.Write(number, frame);
        return Scratch.Bytes(frame, PageLayout.SizeBytes);
    }

    /// <summary>Forgets a page that nobody can see any more, and releases its scratch frame if it has one.</summary>
    public void Forget(long number)
    {
        if (number >= Space.Count)
            return; // freed before it was placed

        uint frame = FrameOf(number);
        _space.Write(number, NotLookedAt);
        Decrypted?.Forget(number);
        Proofs.Damaged.Remove(number);
        if (frame != 0)
            Release(frame);
    }

    /// <summary>
    /// Forgets a run that nobody can see any more: a value, or pages that are read individually, such as those of a bitmap.
    /// </summary>
    public void Forget(PageRun run)
    {
        Forget(run.First);
        for (long number = run.First + 1; Decrypted is not null && number < run.First + run.Pages; number++)
            Forget(number);
    }

    /// <summary>
    /// Releases a frame that no reader can hold any more; it is kept as a spare if the page copied from it is still in
    /// scratch.
    /// </summary>
    public void Release(uint frame)
    {
        uint owner = Scratch.Record(frame).Successor;
        Scratch.Release(frame, mayBeSpare: owner != 0 && FrameOf(Scratch.Record(owner).Page) == owner);
    }

    /// <summary>
    /// Makes readers find a page in the file, to which it has been written; its frame stays until no reader can hold it.
    /// </summary>
    public void MoveToMap(long number)
    {
        Debug.Assert(number < _filePages, "3: a page was written to the file before readers find it there");
        uint frame = FrameOf(number);
        if (Decrypted is null)
            _space.Write(number, _space.Map.SeesWrites ? InMap : NotLookedAt);
        else if (Decrypted.TryPublish(number) is null)
            _space.Write(number, NotLookedAt);
        if (frame != 0)
            Scratch.DropSpare(frame);
    }

    /// <summary>Makes room in the table for pages below a number, without touching the file.</summary>
    public void GrowTable(long pages)
    {
        if (pages > _limitPages)
            throw new StorageException(
                $"'{_path}' would grow over StorageOptions.MaxDataFileBytes ({_limitPages * PageLayout.SizeBytes}); raise it.");
        if (pages <= _space.Count)
            return;

        PageSpace next = _spaces.Grow(pages);
        next.CopyEntriesAbove(InMap, _space, _space.Count);
        next.Map.Grow(_filePages * PageLayout.SizeBytes);
        void Publish() => Volatile.Write(ref _space, next);
        if (Decrypted is null)
            Publish();
        else
            Decrypted.MoveTo(next, Publish);
    }

    /// <summary>
    /// Allocates file blocks for pages below a number. Throws <see cref="DiskFullException"/> before anything has changed.
    /// </summary>
    public void GrowFile(long pages)
    {
        GrowTable(pages);
        if (pages <= _filePages)
            return;

        long step = Math.Clamp(_filePages / 4, MinGrowthPages, MaxGrowthPages);
        long wanted = Math.Min(Math.Max(pages, _filePages + step), _limitPages);
        try
        {
            _file.Allocate(wanted * PageLayout.SizeBytes);
        }
        catch (DiskFullException) when (wanted > pages)
        {
            wanted = pages;
            _file.Allocate(wanted * PageLayout.SizeBytes);
        }

        GrowTable(wanted);
        _space.Map.Grow(wanted * PageLayout.SizeBytes);
        Decrypted?.Commit(wanted);
        Debug.Assert(wanted >= pages && wanted <= _space.Count, "2: the table has every page of the file");
        Volatile.Write(ref _filePages, wanted);
    }

    /// <summary>Returns the pages of the value that a cell refers to.</summary>
    /// <exception cref="CorruptionException">The reference is not possible.</exception>
    public PageRun RunOf(OverflowReference value)
    {
        PageRun run = value.Run;
        return value.IsPossible && run.First >= FormatLimits.FirstDataPage && run.First + run.Pages <= Space.Count
            ? run
            : throw Corrupt(run.First, $"it is said to begin a value of {value.LengthBytes} bytes, which cannot be there");
    }

    /// <summary>
    /// Returns the pages from a number on to the system; nobody may see any of them. Addresses stay reserved, and become
    /// valid again when the file grows.
    /// </summary>
    public void ShrinkFile(long pages)
    {
        long before = _filePages;
        if (pages >= before)
            return;

        Debug.Assert(pages >= FormatLimits.FirstDataPage, "3: meta pages stay");

        Volatile.Write(ref _filePages, pages); // no page beyond is verified from here on
        try
        {
            _file.Truncate(pages * PageLayout.SizeBytes);
        }
        catch
        {
            Volatile.Write(ref _filePages, before);
            throw;
        }
    }

    /// <summary>Opens a reader of pages as stored on disk.</summary>
    public DiskPages OpenDiskPages() => new(_file, Decrypted);

    /// <summary>Returns an error that names file and page.</summary>
    public CorruptionException Corrupt(long number, string what) =>
        new(
            $"Page {number} of '{_path}' is damaged: {what}. Restore a backup, or check the environment to see what else is "
                + $"hit.");

    /// <summary>Returns an error that names a frame of the journal.</summary>
    public CorruptionException CorruptFrame(long frame, long transaction, string what) =>
        new(
            $"Frame {frame} of the journal beside '{_path}' (transaction {transaction}) is damaged: {what}. Nothing was written. "
                + $"Restore a backup, or salvage what is left.");

    /// <summary>Returns an error that names file and tree.</summary>
    public CorruptionException CorruptTree(string name, string what) =>
        new(
            $"The catalogue of '{_path}' is damaged where it names tree '{name}': {what}. Restore a backup, or salvage what is "
                + $"left.");

    public void Dispose()
    {
        Decrypted?.Dispose();
        _spaces.Dispose();
        Scratch.Dispose();
        _file.Dispose();
    }

    /// <summary>
    /// Verifies a page of the file again; returns its fault, or null. A page in scratch is not in the file yet, so it has
    /// none.
    /// </summary>
    public string? FindFault(long number)
    {
        if (FrameOf(number) != 0)
            return null;
        if (Proofs.Damaged.Find(number) is { } known)
            return known;

        // A decrypted page may have been adopted from a checkpoint without ever having been verified in the file.
        bool wasProven = Space.Find(number) == InMap;
        return FindSealedFault(
            number, load: !wasProven || Space.Map.SeesWrites || Decrypted is not null, out Span<byte> pages,
            out Span<byte> covered, out _) ?? FindFault(pages, covered);
    }

    /// <summary>
    /// Returns a page, or the run it begins, as stored in the file, encrypted if the store is; an unencrypted one is verified
    /// again. If it is still in scratch (<paramref name="frame"/> is not 0), returns it from there, without a checksum. Of an
    /// unencrypted or scratch run, only header and value are returned.
    /// </summary>
    public ReadOnlySpan<byte> ReadStored(long number, out uint frame)
    {
        frame = FrameOf(number);
        if (frame != 0)
        {
            var page = new Page(Scratch.Bytes(frame, PageLayout.SizeBytes));
            return StoredBytes(
                number, frame, page.Type == PageType.Overflow ? PageLayout.HeaderBytes + page.ValueLength : PageLayout.SizeBytes);
        }

        string? fault = FindSealedFault(number, load: true, out Span<byte> pages, out Span<byte> covered, out _)
            ?? (Decrypted is null ? FindFault(pages, covered) : null);
        return fault is null ? covered : throw Corrupt(number, fault);
    }

    /// <summary>
    /// Returns bytes of what <see cref="ReadStored"/> found last, in an unencrypted store or in scratch, within the same read
    /// transaction.
    /// </summary>
    public ReadOnlySpan<byte> StoredBytes(long number, uint frame, int lengthBytes) =>
        frame != 0 ? Scratch.Bytes(frame, lengthBytes) : Space.Map.Range.Span(number * PageLayout.SizeBytes, lengthBytes);

    /// <summary>Whether a page is not verified yet, so that it must be read from the file.</summary>
    public bool IsUnseen(long number) => (ulong)number < (ulong)Space.Count && Space.Find(number) == NotLookedAt;

    /// <summary>
    /// Asks the system to start reading pages of the file that will be needed. Does not wait; ignores impossible page
    /// numbers.
    /// </summary>
    public void Announce(long number, int pages)
    {
        long end = Math.Min(number + pages, FilePages);
        if (number >= FormatLimits.FirstDataPage && end > number && Space.Map.SeesWrites)
            Space.Map.Announce(number * PageLayout.SizeBytes, (end - number) * PageLayout.SizeBytes);
    }

    /// <summary>Loads pages of the file into memory before they are read; a read error shows only when they are.</summary>
    public void LoadAhead(long number, int pages)
    {
        long end = Math.Min(number + pages, FilePages);
        if (end > number && Space.Map.SeesWrites)
            Space.Map.Load(number * PageLayout.SizeBytes, (end - number) * PageLayout.SizeBytes);
    }

    /// <summary>
    /// Returns the incarnation a page is encrypted with in the file; 0 if it is only in scratch or not encrypted.
    /// </summary>
    public ulong IncarnationOf(long number)
    {
        if (FrameOf(number) != 0)
            return 0;

        long offset = number * PageLayout.SizeBytes;
        IFileMap map = Space.Map;
        return !map.Load(offset, PageLayout.SizeBytes)
            ? throw Corrupt(number, "the disk cannot read it") // not 0: the old data key would be dropped
            : new Page(map.Range.Span(offset, PageLayout.SizeBytes)).Incarnation;
    }

    /// <summary>Reads a page without throwing; false if it is damaged.</summary>
    public bool TryRead(long number, out Span<byte> bytes)
    {
        bytes = default;
        if (FrameOf(number) is var frame && frame != 0)
            bytes = Scratch.Bytes(frame, PageLayout.SizeBytes);
        else if (FindFaultAndProve(number, AnyLength, out PageSpace space) is null)
            bytes = space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes);
        else
            return false;
        return true;
    }

    /// <summary>
    /// Verifies a page for the first time, or a run of the length its reference names, and returns the space that it is in.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private PageSpace Prove(long number, int pages) =>
        FindFaultAndProve(number, pages, out PageSpace space) is { } fault ? throw Corrupt(number, fault) : space;

    private string? FindFaultAndProve(long number, int expectedPages, out PageSpace space)
    {
        space = _space;
        return Proofs.Damaged.Find(number)
            ?? FindFreshFaultAndProve(number, expectedPages, out space)
            ?? Proofs.FindDamageSinceProof(number);
    }

    private string? FindFreshFaultAndProve(long number, int expectedPages, out PageSpace space)
    {
        if (Decrypted?.TryPublish(number) is { } published)
        {
            space = published;
            return null;
        }

        if (FindSealedFault(number, load: true, out Span<byte> pages, out Span<byte> covered, out space) is { } fault)
            return fault;
        if (Decrypted is { } decrypted)
            return FindWrongLength(decrypted, pages, expectedPages) ?? decrypted.Load(number, pages, out space);
        if (FindFault(pages, covered) is { } second)
            return second;

        space.Write(number, InMap);
        return null;
    }

    /// <summary>
    /// Returns the fault of a run whose header has an unexpected length, or null. Decrypting it in place would overwrite the
    /// decrypted pages behind it, so it is decrypted elsewhere to find the reason.
    /// </summary>
    private static string? FindWrongLength(DecryptedPages decrypted, Span<byte> pages, int expectedPages)
    {
        int found = pages.Length / PageLayout.SizeBytes;
        if (found == (expectedPages == AnyLength ? 1 : expectedPages))
            return null;

        return decrypted.FindFault(pages)
            ?? (expectedPages == AnyLength ? null : $"it has {found} pages, {expectedPages} were expected");
    }

    /// <summary>Returns the fault in the contents of a page whose number and length are valid, or null.</summary>
    private string? FindFault(Span<byte> pages, Span<byte> covered) =>
        Decrypted is { } decrypted ? decrypted.FindFault(pages) : PageContent.FindFault(pages, covered);

    /// <summary>
    /// Locates a page or run in the file; returns its fault, or null together with its bytes as stored and the part of them
    /// that its checksum covers.
    /// </summary>
    private string? FindSealedFault(long number, bool load, out Span<byte> bytes, out Span<byte> covered, out PageSpace space)
    {
        bytes = default;
        covered = default;
        long filePages = FilePages; // read before the space, which is then at least as large
        space = Space;
        if (number < FormatLimits.FirstDataPage || number >= filePages)
            return $"it is referred to, but the file has {filePages} pages";

        IFileMap map = space.Map;
        long offset = number * PageLayout.SizeBytes;
        if (load && !map.Load(offset, PageLayout.SizeBytes))
            return "the disk cannot read it";

        bytes = map.Range.Span(offset, PageLayout.SizeBytes);
        var page = new Page(bytes);
        if (page.Number != number)
            return $"it says it is page {page.Number}";

        covered = bytes;
        if (page.Type != PageType.Overflow)
            return null;

        int length = page.ValueLength;
        long pages = length < 0 ? long.MaxValue : PageLayout.RunPages(length);
        if (pages > filePages - number || length > FormatLimits.MaxValueBytes)
            return $"it says its value has {length} bytes";
        if (load && pages > 1 && !map.Load(offset, pages * PageLayout.SizeBytes))
            return "the disk cannot read its value";
        covered = map.Range.Span(offset, PageLayout.HeaderBytes + length);
        if (Decrypted is not null)
            bytes = covered = map.Range.Span(offset, (int)(pages * PageLayout.SizeBytes)); // encrypted as a whole
        return null;
    }

    /// <summary>
    /// Scratch comes first, since its pages cannot be evicted; an eighth of the memory remains in any case, or every read
    /// would decrypt again.
    /// </summary>
    private long DecryptedBudget(StorageOptions options) =>
        Math.Min(
            options.DecryptedBudgetBytes,
            Math.Max(options.MemoryBudgetBytes / 8, options.MemoryBudgetBytes - Scratch.BytesInUse));

    private void ThrowOtherKind(long number, int level, Span<byte> bytes) =>
        throw Corrupt(number, PageContent.OtherKind(level, bytes));

    private void ThrowOtherBirth(PageReference reference, Span<byte> bytes) =>
        throw Corrupt(reference.Number, PageContent.OtherBirth(reference, bytes));
}
