using System.Globalization;
using Treepie.Storage;

namespace Treepie.CommandLine.Offline;

/// <summary>Changes the keys of one database or environment that no process has open.</summary>
internal sealed class KeyChange(Shell shell, DirectoryKeys keys)
{
    /// <summary>Replaces the user's key.</summary>
    public async Task ChangeAsync(Func<EncryptionKey> readNext, CancellationToken cancellationToken)
    {
        string main = keys.Directory.MainEnvironment();
        using (StorageEnvironment environment = Open(main, cancellationToken))
        using (EncryptionKey next = readNext())
            environment.ChangeKey(next, cancellationToken);
        await shell.Error.WriteLineAsync(
            $"'{keys.Directory.Path}' has its new key. Put that where the old one was, if a server looks for it there.");
    }

    /// <summary>Re-encrypts everything: the documents, then each index.</summary>
    public async Task RotateAsync(CancellationToken cancellationToken)
    {
        string main = keys.Directory.MainEnvironment();
        long pages = 0;
        foreach (string place in keys.Directory.Environments.OrderByDescending(place => place == main))
        {
            string name = keys.Directory.NameOf(place);
            EncryptionKey? key = keys.Of(place, cancellationToken);
            if (key is null)
                throw new UsageException($"'{place}' is not encrypted: it has no keys.");

            KeyRotationReport report = await OfflineProgress.RunAsync(shell, name, progress =>
            {
                using StorageEnvironment environment = Open(place, cancellationToken);
                return environment.RotateDataKey(key, new Pages(progress), cancellationToken);
            });
            pages += report.PagesWritten;
            if (!report.IsComplete)
                throw new StorageException(
                    $"{name}: everything was encrypted anew, but the old data key is still needed: "
                        + $"{string.Join("; ", report.Holders)}. Run it again when it is not.");
        }

        await shell.Error.WriteLineAsync(
            string.Create(CultureInfo.InvariantCulture, $"'{keys.Directory.Path}' is encrypted anew: {pages:N0} pages."));
    }

    private StorageEnvironment Open(string place, CancellationToken cancellationToken) =>
        StorageEnvironment.Open(place, new StorageOptions
        {
            EncryptionKey = keys.Of(place, cancellationToken)
                ?? throw new UsageException(
                    $"'{place}' is not encrypted: it has no keys. Encryption is chosen when a database is made."),
        });

    private sealed class Pages(IProgress<CheckProgress> progress) : IProgress<KeyRotationProgress>
    {
        public void Report(KeyRotationProgress value) =>
            progress.Report(new CheckProgress("pages encrypted anew", value.PagesWritten, value.PagesTotal));
    }
}
