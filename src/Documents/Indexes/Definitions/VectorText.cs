using System.Buffers.Binary;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Vectors as they stand in JSON: base64 of 32-bit floats, little-endian, or, of packed bits, numbers or base64 of bytes.
/// </summary>
internal static class VectorText
{
    public static bool TryDecode(string text, out float[] vector)
    {
        ReadOnlySpan<byte> bytes = Bytes(text);
        bool isWhole = bytes.Length > 0 && bytes.Length % sizeof(float) == 0;
        vector = new float[isWhole ? bytes.Length / sizeof(float) : 0];
        for (int i = 0; i < vector.Length; i++)
            vector[i] = BinaryPrimitives.ReadSingleLittleEndian(bytes[(i * sizeof(float))..]);
        return isWhole;
    }

    /// <summary>Reads base64 of bytes of eight bits, each of which becomes 1 or -1.</summary>
    public static bool TryUnpack(string text, out float[] vector)
    {
        vector = Unpack(Bytes(text));
        return vector.Length > 0;
    }

    /// <summary>Reads bytes of eight bits, each of which becomes 1 or -1. Bytes are numbers from -128 to 255.</summary>
    public static bool TryUnpack(float[] numbers, out float[] vector)
    {
        bool areBytes = Array.TrueForAll(numbers, static one => one is >= sbyte.MinValue and <= byte.MaxValue && one % 1 == 0);
        vector = areBytes ? Unpack([.. numbers.Select(static one => unchecked((byte)(int)one))]) : [];
        return areBytes;
    }

    private static float[] Unpack(ReadOnlySpan<byte> bytes)
    {
        float[] vector = new float[bytes.Length * 8];
        for (int i = 0; i < vector.Length; i++)
            vector[i] = (bytes[i / 8] >> (i % 8) & 1) == 1 ? 1 : -1;
        return vector;
    }

    /// <summary>Decodes base64; empty if the text is none.</summary>
    private static ReadOnlySpan<byte> Bytes(string text)
    {
        byte[] bytes = new byte[(text.Length * 3 / 4) + 3];
        return Convert.TryFromBase64String(text, bytes, out int length) ? bytes.AsSpan(0, length) : [];
    }
}
