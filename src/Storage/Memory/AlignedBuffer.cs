using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// Native memory whose address is a multiple of 4 KiB, as writes past the system's cache need it; grows by moving, and leaves
/// zeros where it was. For one thread at a time.
/// </summary>
internal sealed unsafe class AlignedBuffer : IDisposable
{
    private const int AlignmentBytes = 4096;

    private byte* _start;

    public AlignedBuffer(int lengthBytes) => Resize(lengthBytes, 0);

    ~AlignedBuffer() => Free();

    public int Length { get; private set; }

    /// <summary>A part of it; lives until the next <see cref="Resize"/>.</summary>
    public Span<byte> Slice(int offset, int lengthBytes)
    {
        if ((uint)offset > (uint)Length || (uint)lengthBytes > (uint)(Length - offset))
            throw new InvalidOperationException($"{lengthBytes} bytes at {offset} lie outside a buffer of {Length} bytes.");

        return new Span<byte>(_start + offset, lengthBytes);
    }

    /// <summary>Gives it another length, keeping its first bytes; the others are undefined.</summary>
    public void Resize(int lengthBytes, int keptBytes)
    {
        byte* start = (byte*)NativeMemory.AlignedAlloc((nuint)lengthBytes, AlignmentBytes); // throws where there is no memory
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
        new Span<byte>(_start, Length).Clear(); // it may have been someone's secret
        NativeMemory.AlignedFree(_start);
        _start = null;
        Length = 0;
    }
}
