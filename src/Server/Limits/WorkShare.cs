using System.Runtime.InteropServices;

namespace Treepie.Server.Limits;

/// <summary>
/// Places for one kind of work, so many in all and so many for one client, so that neither a kind of work nor a client
/// starves the others. Who finds none is refused at once, by name. Thread-safe.
/// </summary>
/// <param name="what">The work, for messages: "requests", "bulk inserts".</param>
/// <param name="most">Places in all.</param>
/// <param name="mostPerClient">Places of one client.</param>
internal sealed class WorkShare(string what, int most, int mostPerClient)
{
    private readonly Lock _sync = new();
    private readonly Dictionary<ClientKey, int> _byClient = [];
    private int _taken;

    /// <summary>Places that are taken.</summary>
    public int Taken
    {
        get
        {
            lock (_sync)
                return _taken;
        }
    }

    /// <summary>Takes a place; disposing it gives it back.</summary>
    /// <exception cref="WireException">There is none: 503, or 429 where the client has its share.</exception>
    public Place Enter(ClientKey client)
    {
        lock (_sync)
        {
            if (_taken >= most)
                throw WireException.Busy($"The server is at work on {most:N0} {what}, its limit. Try again later.");

            ref int own = ref CollectionsMarshal.GetValueRefOrAddDefault(_byClient, client, out _);
            if (own >= mostPerClient)
                throw WireException.TooMany(
                    $"This client has {mostPerClient:N0} {what} at work, the limit for one client. Try again when one has "
                        + $"ended.");

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
                _byClient.Remove(client); // clients that have left must not fill the memory
        }
    }

    /// <summary>A place that is taken until it is disposed.</summary>
    internal sealed class Place(WorkShare share, ClientKey client) : IDisposable
    {
        private WorkShare? _held = share;

        public void Dispose() => Interlocked.Exchange(ref _held, null)?.Leave(client);
    }
}
