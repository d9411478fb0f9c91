using System.Buffers.Binary;

namespace Treepie.Indexes.Definitions;

/// <summary>A vector as text: base64 of 32-bit floats, little-endian.</summary>
internal static class VectorText
{
    public static bool TryDecode(string text, out float[] vector)
    {
        byte[] bytes = new byte[(text.Length * 3 / 4) + 3];
        bool isWhole = Convert.TryFromBase64String(text, bytes, out int length) && length % sizeof(float) == 0 && length > 0;
        vector = new float[isWhole ? length / sizeof(float) : 0];
        for (int i = 0; i < vector.Length; i++)
            vector[i] = BinaryPrimitives.ReadSingleLittleEndian(bytes.AsSpan(i * sizeof(float)));
        return isWhole;
    }
}
