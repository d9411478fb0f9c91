using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// Native memory at an address that is a multiple of 4 KiB, as required for writes that bypass the system's cache. Resizing
/// moves it; memory is zeroed before it is freed. For one thread at a time.
/// </summary>
internal sealed unsafe class AlignedBuffer : IDisposable
{
    private const int AlignmentBytes = 4096;

    private byte* _start;

    public AlignedBuffer(int lengthBytes) => Resize(lengthBytes, 0);

    ~AlignedBuffer() => Free();

    public int Length { get; private set; }

    /// <summary>Returns a part of the buffer. Valid until the next <see cref="Resize"/>.</summary>
    public Span<byte> Slice(int offset, int lengthBytes)
    {
        if ((uint)offset > (uint)Length || (uint)lengthBytes > (uint)(Length - offset))
            throw new InvalidOperationException($"{lengthBytes} bytes at {offset} lie outside a buffer of {Length} bytes.");

        return new Span<byte>(_start + offset, lengthBytes);
    }

    /// <summary>Changes the length and keeps the first bytes. The others are undefined.</summary>
    public void Resize(int lengthBytes, int keptBytes)
    {
        Debug.Assert(keptBytes >= 0 && keptBytes <= Math.Min(lengthBytes, Length), "what is kept is in both buffers");
        byte* start = (byte*)NativeMemory.AlignedAlloc((nuint)lengthBytes, AlignmentBytes); // throws if out of memory
        new ReadOnlySpan<byte>(_start, keptBytes).CopyTo(new Span<byte>(start, lengthBytes));
        Free();
        _start = start;
        Length = lengthBytes;
    }

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    private void Free()
    {
        new Span<byte>(_start, Length).Clear(); // it may have held secret data
        NativeMemory.AlignedFree(_start);
        _start = null;
        Length = 0;
    }
}
