using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// A stretch of address space, reserved once and never moved. It costs no memory until parts of it are committed, so a
/// table or a map inside it can grow without any pointer into it going stale. Offsets are bytes from its start.
/// </summary>
/// <remarks>
/// All that is unsafe about memory is here: the other rooms see spans, whose bounds are checked. Accessors check their
/// offset against <see cref="Length"/>, never against what is committed: touching uncommitted addresses ends the
/// process, so owners commit before they hand out a position.
/// Callers need not know the size of a system page: what is asked of the system begins at one here. A part that is made
/// usable, or that advice is about, begins at the page it starts in; what is discarded is only whole pages inside the part,
/// because the rest of a page at either end may hold what is still needed.
/// </remarks>
internal sealed unsafe class AddressRange : IDisposable
{
    private const int LineBytes = 64;

    // Beside the length, so that what is asked for most is checked with one comparison.
    private readonly long _words;
    private readonly long _lastLine;
    private byte* _start;

    private AddressRange(byte* start, long length, SystemCalls calls)
    {
        _start = start;
        Calls = calls;
        Length = length;
        _words = length / sizeof(ulong);
        _lastLine = Math.Max(0, length - LineBytes);
    }

    ~AddressRange() => Free();

    /// <summary>The system that it was reserved from.</summary>
    public SystemCalls Calls { get; }

    /// <summary>Bytes reserved.</summary>
    public long Length { get; }

    /// <summary>Its first address, for what looks into it without this object between.</summary>
    public byte* Start => _start;

    /// <summary>A large page of the processor; on Linux every range that is as long begins at a multiple of it.</summary>
    public const long AlignmentBytes = 2 << 20;

    /// <summary>Reserves addresses; throws <see cref="StorageException"/> where the system has none left.</summary>
    /// <param name="lengthBytes">How many.</param>
    /// <param name="calls">The system; null for this machine's.</param>
    public static AddressRange Reserve(long lengthBytes, SystemCalls? calls = null)
    {
        calls ??= SystemCalls.Default;
        byte* start = OperatingSystem.IsWindows() ? WindowsMemory.Reserve(lengthBytes) : UnixMemory.Reserve(calls, lengthBytes);
        if (start == null)
        {
            throw new StorageException(
                $"{Math.Max(1, lengthBytes >> 20)} MiB of address space cannot be reserved: the process has no more addresses, "
                + $"or as many "
                + "mappings as it may have. Raise its limits (ulimit -v, vm.max_map_count) or close other environments.");
        }

        return new AddressRange(start, lengthBytes, calls);
    }

    /// <summary>Makes a part readable and writable; new memory is zero.</summary>
    public void Commit(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        bool done = OperatingSystem.IsWindows()
            ? WindowsMemory.Commit(_start + offset, lengthBytes)
            : UnixMemory.Commit(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
        if (!done)
            throw new StorageException(
                $"The system gave no memory ({lengthBytes} bytes); close other programs or lower the scratch budget.");
    }

    /// <summary>
    /// Asks for huge pages behind a part, which random reads find in half the time; where the system has none, nothing changes.
    /// </summary>
    public void PreferHugePages(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.PreferHugePages(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>
    /// Gives the memory of a committed part back to the system, as far as it is whole system pages; it reads as zero or unchanged
    /// afterwards and stays committed. On Linux all of it reads as zero, but for memory that is locked.
    /// </summary>
    public void Discard(long offset, long lengthBytes) => DiscardInside(offset, lengthBytes, isLocked: false);

    /// <summary>Keeps a part out of core dumps, and out of processes that are forked off, where the system knows how.</summary>
    public void ExcludeFromDumps(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (OperatingSystem.IsLinux())
            UnixMemory.ExcludeFromDumps(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>
    /// Keeps what a part holds, now or later, out of swap; false where the system refuses, by a limit mostly (ulimit -l).
    /// </summary>
    public bool TryLock(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return OperatingSystem.IsWindows()
            ? WindowsMemory.TryLock(_start + offset, lengthBytes)
            : UnixMemory.TryLock(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>As <see cref="Discard"/>, for a part that may be locked.</summary>
    public void DiscardLocked(long offset, long lengthBytes) => DiscardInside(offset, lengthBytes, isLocked: true);

    /// <summary>
    /// Maps a file from its beginning, for reading only, over all of this range. What lies behind the end of the file can be
    /// read once the file has grown over it.
    /// </summary>
    public void MapFile(SafeFileHandle file)
    {
        int error = UnixMemory.MapFile(Calls, _start, file, Length);
        if (error != 0)
            throw new StorageException(
                $"The data file cannot be mapped into memory (error {error}: {Marshal.GetPInvokeErrorMessage(error)}).");
        UnixMemory.ReadOnlyWhatIsTouched(Calls, _start, Length);
    }

    /// <summary>
    /// Maps a part of a file over a part of this range, for reading and writing: the system may write out to the file what is
    /// written here. False where it refuses; then the part is as it was.
    /// </summary>
    public bool TryMapShared(SafeFileHandle file, long fileOffset, long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!UnixMemory.MapForWriting(Calls, _start + offset, file, fileOffset, lengthBytes))
            return false;

        UnixMemory.ReadOnlyWhatIsTouched(Calls, _start + offset, lengthBytes);
        return true;
    }

    /// <summary>
    /// Puts plain memory, all zero, behind a part; false where the system refuses, and then the part is as it was.
    /// </summary>
    public bool TryMapFresh(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return UnixMemory.MapFresh(Calls, _start + offset, lengthBytes);
    }

    /// <summary>Brings mapped pages into memory, and says what came of it; for no bytes, whether the system knows how.</summary>
    public PopulateResult Populate(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return lengthBytes == 0
            ? UnixMemory.Populate(Calls, _start, 0)
            : UnixMemory.Populate(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>Begins to bring mapped pages into memory, where the system knows how; waits for nothing.</summary>
    public void BeginPopulate(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.BeginLoad(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>The bytes at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Span(long offset, int lengthBytes)
    {
        Check(offset, lengthBytes);
        return new Span<byte>(_start + offset, lengthBytes);
    }

    /// <summary>The 32-bit number at an index, read so that what was written before it was stored is seen.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint ReadUInt32(long index)
    {
        Check(index * sizeof(uint), sizeof(uint));
        return Volatile.Read(ref *((uint*)_start + index));
    }

    /// <summary>Stores a 32-bit number after all that was written before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt32(long index, uint value)
    {
        Check(index * sizeof(uint), sizeof(uint));
        Volatile.Write(ref *((uint*)_start + index), value);
    }

    /// <summary>Stores a 32-bit number if another is there now; false if not.</summary>
    public bool TryExchangeUInt32(long index, uint expected, uint value)
    {
        Check(index * sizeof(uint), sizeof(uint));
        return Interlocked.CompareExchange(ref *((uint*)_start + index), value, expected) == expected;
    }

    /// <summary>
    /// Says of each unit of a mapped part, which begins at a system page, whether it is in memory (1) or not (0); false where the
    /// system does not say.
    /// </summary>
    public bool TryFindResident(long offset, Span<byte> resident, int unitBytes)
    {
        Check(offset, (long)resident.Length * unitBytes);
        return UnixResidency.TryFind(Calls, _start + offset, resident, unitBytes);
    }

    /// <summary>The 64 bytes at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Line(long offset)
    {
        if ((ulong)offset > (ulong)_lastLine)
            ThrowOutside(offset, LineBytes);
        return new Span<byte>(_start + offset, LineBytes);
    }

    /// <summary>The place of the 64-bit number at an index, for who reads it more than once.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref ulong Word(long index)
    {
        if ((ulong)index >= (ulong)_words)
            ThrowOutside(index * sizeof(ulong), sizeof(ulong));
        return ref *((ulong*)_start + index);
    }

    /// <summary>The 64-bit number at an index, read so that what was written before it was stored is seen.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong ReadUInt64(long index)
    {
        return Volatile.Read(ref Word(index));
    }

    /// <summary>Stores a 64-bit number after all that was written before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(long index, ulong value)
    {
        Volatile.Write(ref Word(index), value);
    }

    /// <summary>Stores a 64-bit number if another is there now; false if not.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryExchange(long index, ulong expected, ulong value)
    {
        return Interlocked.CompareExchange(ref Word(index), value, expected) == expected;
    }

    /// <summary>Starts to bring the cache line at an offset near, without waiting for it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Prefetch(long offset)
    {
        Check(offset, 1);
        if (Sse.IsSupported)
            Sse.Prefetch0(_start + offset);
    }

    /// <summary>The first offset that is a multiple of an alignment as an address.</summary>
    public long FirstAligned(long alignmentBytes) => (alignmentBytes - ((long)_start % alignmentBytes)) % alignmentBytes;

    /// <summary>
    /// Asks the system for large pages: one entry of the processor's address cache then covers 2 MiB instead of 4 KiB.
    /// </summary>
    public void AdviseLargePages(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (OperatingSystem.IsLinux())
            UnixMemory.PreferHugePages(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Check(long offset, long lengthBytes)
    {
        if ((ulong)offset > (ulong)Length || lengthBytes > Length - offset)
            ThrowOutside(offset, lengthBytes);
    }

    private void ThrowOutside(long offset, long lengthBytes) =>
        throw new InvalidOperationException($"{lengthBytes} bytes at {offset} lie outside a range of {Length} bytes.");

    private void Free()
    {
        byte* start = _start;
        _start = null;
        if (start == null)
            return;

        if (OperatingSystem.IsWindows())
            WindowsMemory.Free(start);
        else
            UnixMemory.Free(Calls, start, Length);
    }

    /// <summary>Where the system page begins that an offset lies in. The range itself begins at one.</summary>
    private byte* PageAt(long offset) => _start + (offset - (offset % Calls.PageBytes));

    /// <summary>Bytes from there to the end of a part; the system rounds the end up by itself.</summary>
    private long FromPageAt(long offset, long lengthBytes) => (offset % Calls.PageBytes) + lengthBytes;

    private void DiscardInside(long offset, long lengthBytes, bool isLocked)
    {
        Check(offset, lengthBytes);
        if (OperatingSystem.IsWindows())
            return;

        long page = Calls.PageBytes, end = offset + lengthBytes;
        long first = (offset + page - 1) / page * page, last = end / page * page;
        if (first >= last)
        {
            Zero(offset, end); // no whole page is inside
            return;
        }

        Zero(offset, first);
        UnixMemory.Discard(Calls, _start + first, last - first, isLocked);
        Zero(last, end);
    }

    /// <summary>Less than two system pages.</summary>
    private void Zero(long from, long to)
    {
        if (to > from)
            new Span<byte>(_start + from, (int)(to - from)).Clear();
    }
}
