using Treepie.Destinations;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>Folders of which a test interrupts reading and deleting.</summary>
internal sealed class WatchedFolders : DestinationProvider
{
    private const string Scheme = "watched:";

    /// <summary>Called before an object is opened.</summary>
    public Action<string> Reading { get; set; } = static _ => { };

    /// <summary>Called before an object is deleted.</summary>
    public Action<string> Deleting { get; set; } = static _ => { };

    public static string AddressOf(string folder) => Scheme + folder;

    public override bool Takes(string address) => address.StartsWith(Scheme, StringComparison.Ordinal);

    public override BackupDestination Open(DestinationSettings settings) =>
        new Watched(this, settings.Address, new FolderDestination(settings.Address[Scheme.Length..]));

    private sealed class Watched(WatchedFolders hooks, string address, FolderDestination folder) : BackupDestination
    {
        public override string Address => address;

        public override bool IsLocal => false;

        public override Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default) =>
            folder.ProbeAsync(expectedBytes, cancellationToken);

        public override Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default) =>
            folder.CreateAsync(name, cancellationToken);

        public override Task<IReadOnlyList<BackupObject>> ListAsync(
            string prefix, CancellationToken cancellationToken = default) => folder.ListAsync(prefix, cancellationToken);

        public override Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default)
        {
            hooks.Reading(name);
            cancellationToken.ThrowIfCancellationRequested();
            return folder.OpenAsync(name, cancellationToken);
        }

        public override Task DeleteAsync(string name, CancellationToken cancellationToken = default)
        {
            hooks.Deleting(name);
            cancellationToken.ThrowIfCancellationRequested();
            return folder.DeleteAsync(name, cancellationToken);
        }

        protected override void Dispose(bool disposing)
        {
            folder.Dispose();
            base.Dispose(disposing);
        }
    }
}
