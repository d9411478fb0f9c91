using System.Buffers.Binary;
using Treepie.Storage.Maps;

namespace Treepie.Storage.Tests.Maps;

/// <summary>Numbers with only three different hash values, so that buckets always overflow.</summary>
internal readonly struct CollidingSerializer : IMapSerializer<long>
{
    public static string Name => "colliding";

    public static int FixedBytes => sizeof(long);

    public static bool HasOwnHash => true;

    public static int GetMaxBytes(long value) => sizeof(long);

    public static int Write(long value, Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, value);
        return sizeof(long);
    }

    public static long Read(ReadOnlySpan<byte> source) => BinaryPrimitives.ReadInt64LittleEndian(source);

    public static ulong Hash(ReadOnlySpan<byte> key, ulong seed) => ((ulong)key[0] % 3) * 0x0001_0101_0000_0001;
}

/// <summary>
/// Strings whose hash has only its low bits, so that all records of a bucket start at the same group, with the same tag.
/// </summary>
internal readonly struct LowBitsSerializer : IMapSerializer<string>
{
    public static string Name => "low bits";

    public static int FixedBytes => -1;

    public static bool HasOwnHash => true;

    public static int GetMaxBytes(string value) => StringSerializer.GetMaxBytes(value);

    public static int Write(string value, Span<byte> destination) => StringSerializer.Write(value, destination);

    public static string Read(ReadOnlySpan<byte> source) => StringSerializer.Read(source);

    public static ulong Hash(ReadOnlySpan<byte> key, ulong seed) => MapHash.Compute(key, seed) & 0xFFFF_FFFF;
}

/// <summary>Writes the given string, or throws if the string says so.</summary>
internal readonly struct FaultySerializer : IMapSerializer<string>
{
    public const string Throws = "throws";
    public const string ThrowsLate = "throws late";

    public static string Name => "faulty";

    public static int FixedBytes => -1;

    public static int GetMaxBytes(string value) =>
        value == Throws ? throw new FormatException("Asked to.") : StringSerializer.GetMaxBytes(value);

    public static int Write(string value, Span<byte> destination)
    {
        int length = StringSerializer.Write(value, destination);
        return value == ThrowsLate ? throw new FormatException("Asked to.") : length;
    }

    public static string Read(ReadOnlySpan<byte> source) => StringSerializer.Read(source);
}

/// <summary>Claims a fixed size of 300 bytes, and returns the value itself as the number of bytes written.</summary>
internal readonly struct LyingSerializer : IMapSerializer<int>
{
    public static string Name => "lying";

    public static int FixedBytes => 300;

    public static int GetMaxBytes(int value) => 300;

    public static int Write(int value, Span<byte> destination) => value;

    public static int Read(ReadOnlySpan<byte> source) => 0;
}
