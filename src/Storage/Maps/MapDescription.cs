using System.Text;
using Treepie.Storage.Format;

namespace Treepie.Storage.Maps;

/// <summary>What a map records about its types and serializers, and compares when it is opened.</summary>
internal static class MapDescription
{
    /// <summary>Returns a description of the type and serializer.</summary>
    public static string Of<T, TSerializer>()
        where TSerializer : struct, IMapSerializer<T>
    {
        string text = $"{typeof(T)} as {TSerializer.Name}";
        return Encoding.UTF8.GetByteCount(text) <= MapLayout.MaxDescriptionBytes
            ? text
            : throw new ArgumentException(
                $"The name of {typeof(T).Name} with that of its serializer is longer than {MapLayout.MaxDescriptionBytes} "
                    + $"bytes.");
    }

    /// <summary>Throws if the map was created with other types or serializers.</summary>
    public static void Verify<TKey, TValue, TKeySerializer, TValueSerializer>(string name, ReadOnlySpan<byte> root)
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        MapLayout.ReadDescriptions(root, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);
        MapHeader header = MapLayout.Read(root);
        VerifyOne<TKey, TKeySerializer>(name, "keys", key, header.KeyBytes);
        VerifyOne<TValue, TValueSerializer>(name, "values", value, header.ValueBytes);
        if (header.IsStandardHash == TKeySerializer.HasOwnHash)
            throw new ArgumentException(
                $"The map '{name}' was made with "
                    + $"{(header.IsStandardHash ? "the store's own hash" : "a hash of the key's serializer")}, "
                    + $"{typeof(TKeySerializer).Name} has it otherwise. Open it with the serializer it was made with.");
    }

    private static void VerifyOne<T, TSerializer>(string name, string what, ReadOnlySpan<byte> recorded, int recordedBytes)
        where TSerializer : struct, IMapSerializer<T>
    {
        string wanted = Of<T, TSerializer>(), found = Encoding.UTF8.GetString(recorded);
        if (wanted != found || recordedBytes != TSerializer.FixedBytes)
            throw new ArgumentException(
                $"The map '{name}' was made with {what} of {found} ({Length(recordedBytes)}), not {wanted} "
                    + $"({Length(TSerializer.FixedBytes)}). Open it with the types and serializers it was made with, or copy it "
                    + $"to a new map.");
    }

    private static string Length(int bytes) => bytes < 0 ? "of any length" : $"{bytes} bytes";
}
