using System.Buffers.Binary;

namespace Treepie.Indexes.Reducing;

/// <summary>A mapped result that came, went, or became another one.</summary>
/// <param name="Key">The key of its group, and its place in it, as the state has it.</param>
/// <param name="Delta">1: it came, -1: it went, 0: it became another one.</param>
/// <param name="Json">What it is now; null: it went.</param>
internal readonly record struct GroupChange(byte[] Key, int Delta, byte[]? Json)
{
    public const int PlaceBytes = 16;

    /// <summary>The key of its group.</summary>
    public ReadOnlySpan<byte> Group => Key.AsSpan(0, Key.Length - PlaceBytes);

    /// <summary>The first half of the place, which says in which nodes it is.</summary>
    public ulong Prefix => BinaryPrimitives.ReadUInt64BigEndian(Key.AsSpan(Key.Length - PlaceBytes));
}
