using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The positions of a word in all entries of one window, laid out for <see cref="PairKernels"/>. Refilled for each window.
/// </summary>
/// <param name="words">Buffer for a bitmap.</param>
/// <param name="starts">Buffer of <see cref="StartBytes"/>.</param>
/// <param name="bytes">Buffer for <see cref="MaxBytes"/> of positions, and the bytes read after them.</param>
internal sealed class WindowPlaces(ulong[] words, byte[] starts, byte[] bytes)
{
    /// <summary>Most positions of a window: 8 per entry.</summary>
    public const int MaxBytes = 8 * PostingWindow.Size;

    /// <summary>Bytes of the buffer for the starts.</summary>
    public const int StartBytes = sizeof(ushort) * (PairKernels.StartsLength + StartKernels.Room);

    /// <summary>Bytes of the buffer for the positions, including the bytes read after them.</summary>
    public const int RoomBytes = MaxBytes + PairKernels.Room;

    private int _length;

    /// <summary>The positions added so far.</summary>
    public WordPlaces Places =>
        new(
            words.AsSpan(0, BitmapKernels.Words), MemoryMarshal.Cast<byte, ushort>(starts.AsSpan(0, StartBytes)),
            bytes.AsSpan(0, _length + PairKernels.Room));

    /// <summary>Starts with the postings of a window; false if its frequencies are too large.</summary>
    public bool TryBegin(PostingWindow postings)
    {
        Debug.Assert(
            words.Length >= BitmapKernels.Words && starts.Length >= StartBytes && bytes.Length >= RoomBytes,
            "the buffers hold a window");
        _length = 0;
        postings.CopyWords(words.AsSpan(0, BitmapKernels.Words));
        return postings.TryCopyStarts(MemoryMarshal.Cast<byte, ushort>(starts.AsSpan(0, StartBytes)));
    }

    /// <summary>Adds the positions of a block; false if there are too many.</summary>
    public bool TryAdd(ReadOnlySpan<byte> block)
    {
        Debug.Assert(_length <= MaxBytes, "the positions fit their buffer");
        if (_length + block.Length > MaxBytes)
            return false;
        block.CopyTo(bytes.AsSpan(_length));
        _length += block.Length;
        return true;
    }

    /// <summary>
    /// Whether the number of bytes equals the number of positions of <paramref name="count"/> postings, so that each takes
    /// one byte.
    /// </summary>
    public bool IsWhole(int count) => _length == MemoryMarshal.Cast<byte, ushort>(starts.AsSpan(0, StartBytes))[count];
}
