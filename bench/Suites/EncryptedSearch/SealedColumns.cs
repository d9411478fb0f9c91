using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.EncryptedSearch;

/// <summary>
/// An index shaped as files: each column sealed as a whole, decrypted as a whole by every query into memory that belongs to it,
/// as engines must whose index reads files through the store of a transaction. Any number of threads may ask.
/// </summary>
internal sealed class SealedColumns : IDisposable
{
    /// <summary>Films of an answer.</summary>
    public const int First = 10;

    private const int NonceBytes = 12;
    private const int TagBytes = 16;

    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);
    private readonly ThreadLocal<AesGcm> _seals;
    private readonly string[] _ids;
    private readonly byte[] _years;
    private readonly byte[] _order;

    public SealedColumns(Movies movies)
    {
        _seals = new ThreadLocal<AesGcm>(() => new AesGcm(_key, TagBytes), trackAllValues: true);
        _ids = [.. movies.Documents.Select(movie => movie.Id)];
        var order = new int[_ids.Length];
        int place = 0;
        foreach (int film in Enumerable.Range(0, _ids.Length)
            .OrderBy(film => movies.Documents[film].Title, StringComparer.OrdinalIgnoreCase))
            order[film] = place++;
        _years = Seal(MemoryMarshal.AsBytes<long>(movies.Documents.Select(movie => movie.Year).ToArray()));
        _order = Seal(MemoryMarshal.AsBytes<int>(order));
    }

    /// <summary>Bytes that each query decrypts.</summary>
    public int SealedBytes => _years.Length + _order.Length - (2 * (NonceBytes + TagBytes));

    /// <summary>Ids of the first films of a year, by title.</summary>
    public List<string> Find(long year)
    {
        ReadOnlySpan<long> years = MemoryMarshal.Cast<byte, long>(Open(_years));
        ReadOnlySpan<int> order = MemoryMarshal.Cast<byte, int>(Open(_order));
        var found = new List<(int Place, int Film)>();
        for (int film = 0; film < years.Length; film++)
            if (years[film] == year)
                found.Add((order[film], film));
        found.Sort();
        return [.. found.Take(First).Select(entry => _ids[entry.Film])];
    }

    public void Dispose()
    {
        foreach (AesGcm seal in _seals.Values)
            seal.Dispose();
        _seals.Dispose();
    }

    private byte[] Seal(ReadOnlySpan<byte> plain)
    {
        var file = new byte[NonceBytes + TagBytes + plain.Length];
        RandomNumberGenerator.Fill(file.AsSpan(0, NonceBytes));
        // its factory gives one
        _seals.Value!.Encrypt(
            file.AsSpan(0, NonceBytes), plain, file.AsSpan(NonceBytes + TagBytes), file.AsSpan(NonceBytes, TagBytes));
        return file;
    }

    private byte[] Open(byte[] file)
    {
        var plain = new byte[file.Length - NonceBytes - TagBytes];
        // as above
        _seals.Value!.Decrypt(
            file.AsSpan(0, NonceBytes), file.AsSpan(NonceBytes + TagBytes), file.AsSpan(NonceBytes, TagBytes), plain);
        return plain;
    }
}
