using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// A range of address space, reserved once and never moved. It uses no memory until parts of it are committed, so a table or
/// a map inside it can grow without invalidating pointers into it. Offsets are in bytes from its start.
/// </summary>
/// <remarks>
/// Unsafe memory access is kept in this folder: other code gets bounds-checked spans. Accessors check offsets against
/// <see cref="Length"/> and not against the committed part: an access to uncommitted addresses ends the process, so owners
/// must commit a part before they publish a position in it. Callers need not know the system's page size: requests to the
/// system start at a page boundary. A part to commit or advise on is extended back to the start of its first page; discarding
/// covers only whole pages inside the part, because the rest of the pages at both ends may still be in use.
/// </remarks>
internal sealed unsafe class AddressRange : IDisposable
{
    private const int LineBytes = 64;

    // Precomputed limits, so that the most frequent accesses are checked with one comparison.
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

    /// <summary>The system calls with which it was reserved.</summary>
    public SystemCalls Calls { get; }

    /// <summary>The number of bytes reserved.</summary>
    public long Length { get; }

    /// <summary>The first address, for code that accesses the range directly.</summary>
    public byte* Start => _start;

    /// <summary>The size of a huge page. On Linux, every range of at least this length starts at a multiple of it.</summary>
    public const long AlignmentBytes = 2 << 20;

    /// <summary>Reserves addresses. Throws <see cref="StorageException"/> if the process has none left.</summary>
    /// <param name="lengthBytes">The number of bytes.</param>
    /// <param name="calls">The system calls, or null for this machine's.</param>
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

    /// <summary>Makes a part readable and writable. New memory is zeroed.</summary>
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
    /// Requests huge pages for a part: one entry of the processor's address cache (TLB) then covers 2 MiB instead of 4 KiB,
    /// which halves the time of random reads. Has no effect if the system has none.
    /// </summary>
    public void PreferHugePages(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.PreferHugePages(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>
    /// Returns the memory of a committed part to the system, as far as it is whole pages. Afterwards it reads as zero or
    /// unchanged and stays committed; on Linux it always reads as zero, except for locked memory.
    /// </summary>
    public void Discard(long offset, long lengthBytes) => DiscardInside(offset, lengthBytes, isLocked: false);

    /// <summary>Excludes a part from core dumps and forked processes, if the system supports it.</summary>
    public void ExcludeFromDumps(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (OperatingSystem.IsLinux())
            UnixMemory.ExcludeFromDumps(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>
    /// Locks the current and future contents of a part in memory, so that it is never swapped out. Returns false if the
    /// system refuses, mostly because of a limit (ulimit -l).
    /// </summary>
    public bool TryLock(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return OperatingSystem.IsWindows()
            ? WindowsMemory.TryLock(_start + offset, lengthBytes)
            : UnixMemory.TryLock(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>Like <see cref="Discard"/>, for a part that may be locked.</summary>
    public void DiscardLocked(long offset, long lengthBytes) => DiscardInside(offset, lengthBytes, isLocked: true);

    /// <summary>
    /// Maps a file read-only from its start over the whole range. Addresses beyond the end of the file become readable when
    /// it grows.
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
    /// Maps a part of a file over a part of this range for reading and writing: the system may write the contents out to the
    /// file. Returns false and changes nothing if the system refuses.
    /// </summary>
    public bool TryMapShared(SafeFileHandle file, long fileOffset, long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!UnixMemory.MapForWriting(Calls, _start + offset, file, fileOffset, lengthBytes))
            return false;

        UnixMemory.ReadOnlyWhatIsTouched(Calls, _start + offset, lengthBytes);
        return true;
    }

    /// <summary>Maps zeroed anonymous memory over a part. Returns false and changes nothing if the system refuses.</summary>
    public bool TryMapFresh(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return UnixMemory.MapFresh(Calls, _start + offset, lengthBytes);
    }

    /// <summary>
    /// Loads mapped pages into memory and returns the result. With a length of 0, tests whether the system supports it.
    /// </summary>
    public PopulateResult Populate(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return lengthBytes == 0
            ? UnixMemory.Populate(Calls, _start, 0)
            : UnixMemory.Populate(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>Starts loading mapped pages into memory, if the system supports it, without waiting.</summary>
    public void BeginPopulate(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.BeginLoad(Calls, PageAt(offset), FromPageAt(offset, lengthBytes));
    }

    /// <summary>Returns the bytes at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Span(long offset, int lengthBytes)
    {
        Check(offset, lengthBytes);
        return new Span<byte>(_start + offset, lengthBytes);
    }

    /// <summary>Reads the 32-bit number at an index with acquire semantics.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint ReadUInt32(long index)
    {
        Check(index * sizeof(uint), sizeof(uint));
        return Volatile.Read(ref *((uint*)_start + index));
    }

    /// <summary>Stores a 32-bit number with release semantics.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt32(long index, uint value)
    {
        Check(index * sizeof(uint), sizeof(uint));
        Volatile.Write(ref *((uint*)_start + index), value);
    }

    /// <summary>Stores a 32-bit number if the current one is as expected. Returns false otherwise.</summary>
    public bool TryExchangeUInt32(long index, uint expected, uint value)
    {
        Check(index * sizeof(uint), sizeof(uint));
        return Interlocked.CompareExchange(ref *((uint*)_start + index), value, expected) == expected;
    }

    /// <summary>
    /// Returns for each unit of a mapped part, which starts at a system page, whether it is in memory (1) or not (0). Returns
    /// false if the system does not tell.
    /// </summary>
    public bool TryFindResident(long offset, Span<byte> resident, int unitBytes)
    {
        Check(offset, (long)resident.Length * unitBytes);
        return UnixResidency.TryFind(Calls, _start + offset, resident, unitBytes);
    }

    /// <summary>Returns the 64 bytes at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Line(long offset)
    {
        if ((ulong)offset > (ulong)_lastLine)
            ThrowOutside(offset, LineBytes);
        return new Span<byte>(_start + offset, LineBytes);
    }

    /// <summary>Returns a reference to the 64-bit number at an index, for repeated access.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref ulong Word(long index)
    {
        if ((ulong)index >= (ulong)_words)
            ThrowOutside(index * sizeof(ulong), sizeof(ulong));
        return ref *((ulong*)_start + index);
    }

    /// <summary>Reads the 64-bit number at an index with acquire semantics.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong ReadUInt64(long index)
    {
        return Volatile.Read(ref Word(index));
    }

    /// <summary>Stores a 64-bit number with release semantics.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(long index, ulong value)
    {
        Volatile.Write(ref Word(index), value);
    }

    /// <summary>Stores a 64-bit number if the current one is as expected. Returns false otherwise.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryExchange(long index, ulong expected, ulong value)
    {
        return Interlocked.CompareExchange(ref Word(index), value, expected) == expected;
    }

    /// <summary>Prefetches the cache line at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Prefetch(long offset)
    {
        Check(offset, 1);
        if (Sse.IsSupported)
            Sse.Prefetch0(_start + offset);
    }

    /// <summary>Returns the first offset whose address is a multiple of an alignment.</summary>
    public long FirstAligned(long alignmentBytes) => (alignmentBytes - ((long)_start % alignmentBytes)) % alignmentBytes;

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

    /// <summary>Returns the start of the system page that contains an offset. The range itself starts at a page.</summary>
    private byte* PageAt(long offset) => _start + (offset - (offset % Calls.PageBytes));

    /// <summary>Returns the length from there to the end of a part. The system rounds the end up.</summary>
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
            Zero(offset, end); // there is no whole page inside
            return;
        }

        Zero(offset, first);
        UnixMemory.Discard(Calls, _start + first, last - first, isLocked);
        Zero(last, end);
    }

    /// <summary>Zeroes less than two system pages.</summary>
    private void Zero(long from, long to)
    {
        if (to > from)
            new Span<byte>(_start + from, (int)(to - from)).Clear();
    }
}
