using System.Buffers.Binary;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>
/// The rows of a run, computed, not stored: 16-byte keys and values of 8 to 100 random bytes. A value is a function of row and
/// version, so that what a store holds can be checked without keeping a copy.
/// </summary>
internal sealed class FdbData(int rows, bool isSorted = false)
{
    public const int KeyBytes = 16;
    public const int MinValueBytes = 8;
    public const int MaxValueBytes = 100;

    private const int PoolBytes = 1 << 20;
    private readonly byte[] _pool = MakePool();

    /// <summary>Rows there are.</summary>
    public int Rows => rows;

    /// <summary>
    /// Writes the key of a row. Keys are random, unless sorted ones were asked for: then row numbers go up as keys do, equally
    /// random between.
    /// </summary>
    public void Key(int row, Span<byte> key)
    {
        ulong high = isSorted ? (ulong)row * (ulong.MaxValue / (ulong)rows) : Mix((ulong)row);
        BinaryPrimitives.WriteUInt64BigEndian(key, high);
        BinaryPrimitives.WriteUInt64LittleEndian(key[8..], Mix(high + 0x51));
    }

    /// <summary>The value of a row in its version.</summary>
    public ReadOnlySpan<byte> Value(int row, uint version)
    {
        ulong mixed = Mix((ulong)(uint)row << 32 | version);
        int length = MinValueBytes + (int)(mixed % (MaxValueBytes - MinValueBytes + 1));
        return _pool.AsSpan((int)((mixed >> 32) % (PoolBytes - MaxValueBytes)), length);
    }

    /// <summary>A cheap random number of a client: the state is its own.</summary>
    public static uint Next(ref ulong state) => (uint)(Mix(state += 0x9E3779B97F4A7C15) >> 32);

    private static ulong Mix(ulong value)
    {
        value += 0x9E3779B97F4A7C15;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
        return value ^ (value >> 31);
    }

    private static byte[] MakePool()
    {
        var pool = new byte[PoolBytes];
        new Random(5).NextBytes(pool);
        return pool;
    }
}
