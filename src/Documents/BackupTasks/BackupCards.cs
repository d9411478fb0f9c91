using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>Finds the cards of parts; lists each folder of a destination once.</summary>
internal sealed class BackupCards
{
    private readonly Dictionary<(BackupDestination Place, string Folder), ILookup<string, string>> _known = [];

    /// <summary>Returns the names of the cards of a part.</summary>
    /// <exception cref="DestinationException">The destination cannot be listed.</exception>
    public async Task<IEnumerable<string>> OfAsync(BackupDestination place, string part, CancellationToken cancellationToken)
    {
        string folder = part[..(part.LastIndexOf('/') + 1)];
        if (!_known.TryGetValue((place, folder), out ILookup<string, string>? cards))
        {
            IReadOnlyList<BackupObject> all = await place.ListAsync(folder, cancellationToken).ConfigureAwait(false);
            cards = all.Select(static item => (Part: BackupCard.PartOf(item.Name), item.Name))
                .Where(static card => card.Part is not null)
                .ToLookup(static card => card.Part ?? "", static card => card.Name);
            _known.Add((place, folder), cards);
        }

        return cards[part];
    }
}
