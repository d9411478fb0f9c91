using Treepie.Bench.Stores;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>One client of a run: its random numbers, its session, its share of the rows to write.</summary>
/// <remarks>
/// Clients write rows of their own only (row modulo clients), so that the version each row has in the end is known without a
/// lock.
/// </remarks>
internal sealed class FdbClient(FdbData data, uint[] versions, int number, int clients, uint version, IKeyValueSession session)
    : IDisposable
{
    private readonly Entries _entries = new();
    private readonly Entries _keys = new();
    private readonly int[] _rows = new int[1024];
    private ulong _random = ((ulong)version << 20) + (ulong)number;
    private uint _version = version;

    /// <summary>Bytes of keys and values written.</summary>
    public long PayloadBytes { get; private set; }

    /// <summary>Sum over what was read, so that nothing is left out as unused.</summary>
    public ulong Sum { get; private set; }

    /// <summary>The session it works through.</summary>
    public IKeyValueSession Session => session;

    /// <summary>Writes so many random rows in one transaction.</summary>
    public void Write(int rows)
    {
        Entries entries = Fill(rows);
        session.Write(entries);
        Written(rows);
    }

    /// <summary>Reads so many random rows in one transaction.</summary>
    public void Read(int rows)
    {
        Span<byte> key = stackalloc byte[FdbData.KeyBytes];
        _keys.Clear();
        for (int i = 0; i < rows; i++)
        {
            data.Key((int)(FdbData.Next(ref _random) % (uint)data.Rows), key);
            _keys.Add(key, default);
        }

        Sum += session.Read(_keys);
    }

    /// <summary>Reads so many rows in order, from a random one on.</summary>
    public void ReadRange(int rows)
    {
        Span<byte> key = stackalloc byte[FdbData.KeyBytes];
        data.Key((int)(FdbData.Next(ref _random) % (uint)data.Rows), key);
        Sum += session.ReadRange(key, rows);
    }

    /// <summary>The entries of the next write: random rows of its own, in a new version.</summary>
    public Entries Fill(int rows)
    {
        Span<byte> key = stackalloc byte[FdbData.KeyBytes];
        uint own = (uint)((data.Rows - number + clients - 1) / clients);
        _entries.Clear();
        _version++;
        for (int i = 0; i < rows; i++)
        {
            int row = (int)(((long)(FdbData.Next(ref _random) % own) * clients) + number);
            _rows[i] = row;
            data.Key(row, key);
            _entries.Add(key, data.Value(row, _version));
        }

        return _entries;
    }

    /// <summary>Notes that what <see cref="Fill"/> gave was acknowledged.</summary>
    public void Written(int rows)
    {
        PayloadBytes += _entries.PayloadBytes;
        for (int i = 0; i < rows; i++)
            versions[_rows[i]] = _version;
    }

    public void Dispose() => session.Dispose();
}
