namespace Treepie.Storage.Maps;

/// <summary>The hash function of key bytes, as a type argument.</summary>
internal interface IKeyHash
{
    ulong Of(ReadOnlySpan<byte> key);
}

/// <summary>The standard hash of the format.</summary>
internal readonly struct StandardKeyHash(ulong seed) : IKeyHash
{
    public ulong Of(ReadOnlySpan<byte> key) => MapHash.Compute(key, seed);
}

/// <summary>The hash of a serializer: its own or the standard one.</summary>
internal readonly struct SerializerKeyHash<TKey, TKeySerializer>(ulong seed) : IKeyHash
    where TKeySerializer : struct, IMapSerializer<TKey>
{
    public ulong Of(ReadOnlySpan<byte> key) =>
        TKeySerializer.HasOwnHash ? TKeySerializer.Hash(key, seed) : MapHash.Compute(key, seed);
}
