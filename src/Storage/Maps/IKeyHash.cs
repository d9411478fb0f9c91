namespace Treepie.Storage.Maps;

/// <summary>The hash of a key's bytes, as a type argument.</summary>
internal interface IKeyHash
{
    ulong Of(ReadOnlySpan<byte> key);
}

/// <summary>The hash of the format.</summary>
internal readonly struct StandardKeyHash(ulong seed) : IKeyHash
{
    public ulong Of(ReadOnlySpan<byte> key) => MapHash.Compute(key, seed);
}

/// <summary>The hash that goes with a serializer: its own, or that of the format.</summary>
internal readonly struct SerializerKeyHash<TKey, TKeySerializer>(ulong seed) : IKeyHash
    where TKeySerializer : struct, IMapSerializer<TKey>
{
    public ulong Of(ReadOnlySpan<byte> key) =>
        TKeySerializer.HasOwnHash ? TKeySerializer.Hash(key, seed) : MapHash.Compute(key, seed);
}
