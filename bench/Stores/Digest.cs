using System.Numerics;
using System.Runtime.InteropServices;

namespace Treepie.Bench.Stores;

/// <summary>
/// A sum over what was read, the same for every engine that read the same in whatever order: shows that nobody is fast by being
/// wrong. It looks at length, first and last eight bytes, so it touches what a reader touches and costs next to nothing.
/// </summary>
internal struct Digest
{
    /// <summary>The sum so far.</summary>
    public ulong Sum { get; private set; }

    /// <summary>Adds a key with its value.</summary>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) =>
        Sum += Of(key) ^ BitOperations.RotateLeft(Of(value), 17);

    private static ulong Of(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length >= sizeof(ulong))
            return (MemoryMarshal.Read<ulong>(bytes) ^ BitOperations.RotateLeft(
                MemoryMarshal.Read<ulong>(bytes[^sizeof(ulong)..]), 32)) + (ulong)bytes.Length;

        ulong sum = (ulong)bytes.Length;
        foreach (byte value in bytes)
            sum = (sum << 8) | value;
        return sum;
    }
}
