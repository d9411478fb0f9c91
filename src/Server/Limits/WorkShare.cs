using System.Runtime.InteropServices;

namespace Treepie.Server.Limits;

/// <summary>
/// Limits the concurrent work of one kind, in total and per client, so that neither a kind of work nor a client starves the
/// others. Work beyond a limit is rejected immediately. Thread-safe.
/// </summary>
/// <param name="what">The kind of work, for messages: "requests", "bulk inserts".</param>
/// <param name="most">The total limit.</param>
/// <param name="mostPerClient">The limit per client.</param>
internal sealed class WorkShare(string what, int most, int mostPerClient)
{
    private readonly Lock _sync = new();
    private readonly Dictionary<ClientKey, int> _byClient = [];
    private int _taken;

    /// <summary>The number of slots taken.</summary>
    public int Taken
    {
        get
        {
            lock (_sync)
                return _taken;
        }
    }

    /// <summary>Takes a slot, which is released when it is disposed.</summary>
    /// <exception cref="WireException">A limit is reached: 503 for the total, 429 for the client.</exception>
    public Place Enter(ClientKey client)
    {
        lock (_sync)
        {
            if (_taken >= most)
                throw WireException.Busy($"The server has reached its limit of {most:N0} {what}. Try again later.");

            ref int own = ref CollectionsMarshal.GetValueRefOrAddDefault(_byClient, client, out _);
            if (own >= mostPerClient)
                throw WireException.TooMany(
                    $"This client has reached its limit of {mostPerClient:N0} {what}. Try again when one has ended.");

            own++;
            _taken++;
        }

        return new Place(this, client);
    }

    private void Leave(ClientKey client)
    {
        lock (_sync)
        {
            _taken--;
            ref int own = ref CollectionsMarshal.GetValueRefOrNullRef(_byClient, client);
            if (--own == 0)
                _byClient.Remove(client); // entries of inactive clients must not accumulate
        }
    }

    /// <summary>A slot that is taken until it is disposed.</summary>
    internal sealed class Place(WorkShare share, ClientKey client) : IDisposable
    {
        private WorkShare? _held = share;

        public void Dispose() => Interlocked.Exchange(ref _held, null)?.Leave(client);
    }
}
