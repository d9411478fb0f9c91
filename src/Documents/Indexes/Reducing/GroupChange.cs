using System.Buffers.Binary;

namespace Treepie.Indexes.Reducing;

/// <summary>A mapped result that came, went, or became another one, in the group it is in.</summary>
/// <param name="Place">Its place in the group, 16 bytes.</param>
/// <param name="Delta">1: it came, -1: it went, 0: it became another one.</param>
internal readonly record struct GroupChange(byte[] Place, int Delta)
{
    public const int PlaceBytes = 16;

    /// <summary>The first half of the place, which says in which nodes it is.</summary>
    public ulong Prefix => BinaryPrimitives.ReadUInt64BigEndian(Place);
}
