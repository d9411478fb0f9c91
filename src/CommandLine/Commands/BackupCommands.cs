using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.CommandLine.Backups;
using Treepie.CommandLine.Http;
using Treepie.CommandLine.Keys;
using Treepie.Storage;
using Treepie.Storage.Encryption;

namespace Treepie.CommandLine.Commands;

/// <summary>
/// <c>treepie backup</c>, <c>restore</c> and <c>verify</c>, for a database of a server over HTTP or a directory that no server
/// has open. This program seals and opens backups itself, so that backup keys are not sent to the server, except for a restore
/// of several parts, which the server reads from a place itself.
/// </summary>
internal static class BackupCommands
{
    /// <summary><c>backup</c>.</summary>
    public static Command CreateBackup(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string?> database = Database("Name of the database");
        Option<DirectoryInfo?> directory = Directory(
            "Back up the database in this directory while no server is using it, instead of a database of a server");
        var output = new Option<FileInfo>("--output", "-o")
        {
            Description = "The file to write, which replaces an existing one once it is complete",
            HelpName = "file"
        };
        var to = new Option<string[]>("--to")
        {
            Description =
                "Place to write to, straight from the stream: a folder, or s3://bucket/prefix (keys from AWS_ACCESS_KEY_ID and "
                    + "AWS_SECRET_ACCESS_KEY; ?region=, ?endpoint=); may be given several times",
            HelpName = "place",
            AllowMultipleArgumentsPerToken = false
        };
        Option<KeyArgument?> key = KeyOptions.Key("The source of a key to seal the backup with");
        Option<KeyArgument?> directoryKey = KeyOptions.Key("The source of the key of an encrypted directory", "--directory-key");
        var plain = new Option<bool>("--plain")
        {
            Description = "Write an unencrypted backup of an encrypted database, which anyone with the file can read"
        };
        var compression = new Option<string>("--compression")
        {
            Description = "zstd (fastest), zstd-optimal, gzip (optimal), gzip-fastest or none",
            DefaultValueFactory = _ => "zstd"
        };
        compression.AcceptOnlyFromAmong("zstd", "zstd-optimal", "gzip", "gzip-fastest", "none");
        var kind = new Option<string>("--kind")
        {
            Description =
                "logical (documents as JSON), snapshot (pages), incremental (pages that came since the last one at the place), "
                    + "or log (every commit since, to restore to any of them; the database keeps its log from then on)",
            DefaultValueFactory = _ => "logical",
        };
        var pace = new Option<int>("--while-writing")
        {
            Description =
                "The percentage of time, from 5 to 100, that it works while documents are written; without writes it does not "
                    + "pause",
            HelpName = "percent",
            DefaultValueFactory = _ => new BackupOptions().PercentWhileWriting,
        };
        kind.AcceptOnlyFromAmong("logical", "snapshot", "incremental", "log");
        var command = new Command("backup", "Writes a backup of a database as it is at this moment, without blocking other work")
        {
            url, database, directory, output, to, kind, key, directoryKey, plain, compression, pace,
        };
        command.SetAction(shell, url, (parsed, server, cancellationToken) => OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                using EncryptionKey? seal = parsed.GetValue(key)?.Read(shell, "the backup", cancellationToken);
                var options = new BackupOptions
                {
                    Compression = CompressionOf(parsed.GetRequiredValue(compression)),
                    EncryptionKey = seal,
                    AllowPlain = parsed.GetValue(plain),
                    PercentWhileWriting = ReadPercent(parsed.GetValue(pace))
                };
                (string? name, DirectoryInfo? place) = OneOf(parsed.GetValue(database), parsed.GetValue(directory));
                if (parsed.GetValue(kind) is { } part and not "logical")
                {
                    if (parsed.GetValue(output) is not null)
                        throw new UsageException(
                            "--output takes a logical backup; give a place for a snapshot, increment or log: --to with a folder "
                                + "or s3://bucket/prefix.");
                    using ChainOutput chain = await ChainOutput.OpenAsync(shell, parsed.GetValue(to), cancellationToken);
                    return await BackupChainAsync(
                        shell, chain, options with { Kind = part == "log" ? BackupKind.Log : BackupKind.Snapshot },
                        part != "snapshot", server, name, place?.FullName, parsed.GetValue(directoryKey), cancellationToken);
                }

                using BackupOutput target = BackupOutput.Of(shell, parsed.GetValue(output), parsed.GetValue(to));
                await target.OpenAsync(cancellationToken);
                string summary = place is not null
                    ? await BackupDirectoryAsync(
                        shell, place.FullName, target, options, parsed.GetValue(directoryKey), cancellationToken)
                    // OneOf ensured that one of the two is given.
                    : await BackupOverHttpAsync(shell, server.Database(name!), target, options, cancellationToken);
                await shell.Error.WriteLineAsync(summary);
                foreach ((string address, Exception error) in target.Failures)
                    await shell.Error.WriteLineAsync($"Not at '{address}': {error.Message}");
                return target.Failures.Count == 0 ? ExitCode.Ok : ExitCode.Failure;
            },
            cancellationToken));
        return command;
    }

    /// <summary><c>restore</c>.</summary>
    public static Command CreateRestore(Shell shell)
    {
        Argument<string?> file = File(
            "The backup, or a dump of RavenDB; with --from the name of a backup there, or none for the latest");
        Option<string?> from = From();
        Option<string?> of = Of();
        Option<DateTimeOffset?> at = At();
        Option<long?> commit = Commit();
        Option<Uri> url = CommonOptions.Url();
        Option<string?> database = Database("Name of the new database");
        Option<DirectoryInfo?> directory = Directory(
            "Restore to this directory, which must be absent or empty, instead of to a server");
        Option<KeyArgument?> key = KeyOptions.Key("The source of the key that sealed the backup");
        Option<KeyArgument?> directoryKey = KeyOptions.Key(
            "The source of a key to encrypt the restored directory with", "--directory-key");
        var encrypted = new Option<bool>("--encrypted")
        {
            Description = "Encrypt the new database of the server, with the key that was given for its name"
        };
        var plain = new Option<bool>("--plain")
        {
            Description = "Restore a sealed backup to an unencrypted database, which anyone with access to its files can read"
        };
        var command = new Command(
            "restore", "Restores a backup to a new database, which becomes visible once it is complete and verified")
        {
            file, from, of, at, commit, url, database, directory, key, directoryKey, encrypted, plain,
        };
        command.SetAction(shell, url, (parsed, server, cancellationToken) => OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                using EncryptionKey? seal = parsed.GetValue(key)?.Read(shell, "the backup", cancellationToken);
                (string? path, string? origin) = (parsed.GetValue(file), parsed.GetValue(from));
                (string? name, DirectoryInfo? place) = OneOf(parsed.GetValue(database), parsed.GetValue(directory));
                RestoreWish moment = MomentOf(parsed.GetValue(at), parsed.GetValue(commit), origin);
                using BackupOrigin? found = origin is null
                    ? null
                    : await BackupOrigin.FindAsync(origin, path, parsed.GetValue(of), moment, seal, cancellationToken);
                string summary;
                if (place is not null)
                {
                    using EncryptionKey? own = parsed.GetValue(directoryKey)?.Read(
                        shell, "the restored database", cancellationToken);
                    RefusePlain(seal, isEncrypted: own is not null, parsed.GetValue(plain), "--directory-key");
                    var options = new RestoreOptions
                    {
                        BackupKey = seal,
                        AllowPlain = parsed.GetValue(plain),
                        Database = new DatabaseOptions { EncryptionKey = own }
                    };
                    BackupReport report = await ReadAsync(
                        shell,
                        path,
                        found,
                        (source, progress) => Treepie.Database.RestoreAsync(
                            source, place.FullName, options, progress, cancellationToken),
                        (parts, stop, progress) => Treepie.Database.RestoreAsync(
                            parts, place.FullName,
                            options with { StopAtCommit = stop.StopAtCommit, StopAtTime = stop.StopAtTime }, progress,
                            cancellationToken),
                        cancellationToken);
                    summary = $"Restored to '{place.FullName}': {Describe(report)}";
                }
                else
                {
                    // OneOf ensured that one of the two is given.
                    var target = new RestoreTarget(name!, parsed.GetValue(encrypted), parsed.GetValue(plain));
                    RefusePlain(seal, target.IsEncrypted, target.AllowsPlain, "--encrypted");
                    summary = found is { IsAlone: false }
                        // 'found' implies an origin.
                        ? await new PlaceRestore(shell, server).RunAsync(target, origin!, found, moment, seal, cancellationToken)
                        : await RestoreOverHttpAsync(
                            shell, server, target, found?.Selection.Parts[0].Name ?? path, origin, seal, cancellationToken);
                }

                await shell.Error.WriteLineAsync(summary);
                return ExitCode.Ok;
            },
            cancellationToken));
        return command;
    }

    /// <summary><c>verify</c>.</summary>
    public static Command CreateVerify(Shell shell)
    {
        Argument<string?> file = File(
            "The backup, or a dump of RavenDB; with --from the name of a backup there, or none for the latest");
        Option<string?> from = From();
        Option<string?> of = Of();
        Option<DateTimeOffset?> at = At();
        Option<long?> commit = Commit();
        Option<KeyArgument?> key = KeyOptions.Key("The source of the key that sealed the backup");
        var command = new Command(
            "verify",
            "Reads a whole backup and reports whether it is complete; restores nothing and needs no server")
            {
                file, from, of, at, commit, key
            };
        command.SetAction((parsed, cancellationToken) => OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                using EncryptionKey? seal = parsed.GetValue(key)?.Read(shell, "the backup", cancellationToken);
                var options = new RestoreOptions { BackupKey = seal };
                (string? path, string? origin) = (parsed.GetValue(file), parsed.GetValue(from));
                RestoreWish moment = MomentOf(parsed.GetValue(at), parsed.GetValue(commit), origin);
                using BackupOrigin? found = origin is null
                    ? null
                    : await BackupOrigin.FindAsync(origin, path, parsed.GetValue(of), moment, seal, cancellationToken);
                BackupReport report = await ReadAsync(
                    shell,
                    path,
                    found,
                    (source, progress) => Treepie.Database.VerifyBackupAsync(source, options, progress, cancellationToken),
                    (parts, stop, progress) => Treepie.Database.VerifyBackupAsync(
                        parts, options with { StopAtCommit = stop.StopAtCommit, StopAtTime = stop.StopAtTime }, progress,
                        cancellationToken),
                    cancellationToken);
                await shell.OutputText.WriteLineAsync($"The backup is whole: {Describe(report)}");
                return ExitCode.Ok;
            },
            cancellationToken));
        return command;
    }

    private static Option<string?> Database(string description) =>
        new("--database", "-d") { Description = description, HelpName = "name" };

    private static Option<DirectoryInfo?> Directory(string description) =>
        new("--directory") { Description = description, HelpName = "directory" };

    private static Argument<string?> File(string description) =>
        new("file") { Description = description, Arity = ArgumentArity.ZeroOrOne };

    /// <summary>
    /// Refuses to restore a sealed backup to a plain database unless that is allowed. A given key counts as proof that the
    /// backup is sealed; a plain backup is refused later if a key is given.
    /// </summary>
    private static void RefusePlain(EncryptionKey? seal, bool isEncrypted, bool allowsPlain, string option)
    {
        if (seal is not null && !isEncrypted && !allowsPlain)
            throw new UsageException(
                $"The backup is sealed, and the restored database would be plain: everybody who has its files could read it. "
                    + $"Encrypt it ({option}), or say --plain.");
    }

    private static int ReadPercent(int percent) =>
        percent is >= 5 and <= 100
            ? percent
            : throw new UsageException($"--while-writing takes 5 to 100 percent, not {percent}.");

    private static Option<string?> From() =>
        new("--from") { Description = "Read it from a destination: a folder, or s3://bucket/prefix", HelpName = "place" };

    private static Option<string?> Of() =>
        new("--of") { Description = "With --from: the database to use if there are backups of several", HelpName = "name" };

    private static Option<DateTimeOffset?> At() =>
        new("--at")
        {
            Description =
                "With --from: stop at the last commit up to this time (UTC unless it says otherwise), for instance "
                    + "2026-01-31T14:00",
            HelpName = "time",
            CustomParser = ReadTime
        };

    private static Option<long?> Commit() =>
        new("--commit")
        {
            Description = "With --from: stop at exactly this commit; 'treepie backups list' shows the available ones",
            HelpName = "number"
        };

    private static DateTimeOffset? ReadTime(System.CommandLine.Parsing.ArgumentResult result)
    {
        string text = result.Tokens[0].Value;
        if (DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out DateTimeOffset time))
            return time;

        result.AddError($"'{text}' is no time, like 2026-01-31T14:00 or 2026-01-31T14:00:00.250+01:00");
        return null;
    }

    private static RestoreWish MomentOf(DateTimeOffset? at, long? commit, string? from) => (at, commit) switch
    {
        (not null, not null) => throw new UsageException("Give --at or --commit, not both."),
        (null, null) => new RestoreWish(),
        _ when from is null => throw new UsageException(
            "--at and --commit need a place, where it is found out what leads there: give --from with a folder or "
                + "s3://bucket/prefix."),
        _ => new RestoreWish { Commit = commit, Time = at?.UtcDateTime },
    };

    private static async Task<int> BackupChainAsync(
        Shell shell, ChainOutput output, BackupOptions options, bool isIncremental, ServerClient server, string? name,
        string? directory, KeyArgument? directoryKey, CancellationToken cancellationToken)
    {
        var backup = new ChainBackup(shell, output, options, isIncremental);
        string summary;
        if (directory is null)
        {
            summary = await backup.RunAsync(server.Database(name!), cancellationToken); // one is given
        }
        else
        {
            RequireDatabase(directory);
            using EncryptionKey? own = directoryKey?.Read(shell, $"'{directory}'", cancellationToken);
            await using Database database = Treepie.Database.Open(directory, new DatabaseOptions { EncryptionKey = own });
            summary = await backup.RunAsync(
                database, options.EncryptionKey ?? (options.AllowPlain ? null : own), cancellationToken);
        }

        await shell.Error.WriteLineAsync(summary);
        foreach ((string address, Exception error) in output.Failures)
            await shell.Error.WriteLineAsync($"Not at '{address}': {error.Message}");
        return output.Failures.Count == 0 ? ExitCode.Ok : ExitCode.Failure;
    }

    private static void RequireDatabase(string directory)
    {
        if (!System.IO.Directory.Exists(directory) || !System.IO.Directory.EnumerateFileSystemEntries(directory).Any())
            throw new UsageException($"There is no database in '{directory}'.");
    }

    private static (string? Database, DirectoryInfo? Directory) OneOf(string? database, DirectoryInfo? directory) =>
        (database, directory) switch
        {
            (null, null) =>
                throw new UsageException("Say which database: --database NAME of a server, or --directory DIRECTORY."),
            (not null, not null) => throw new UsageException("Give --database or --directory, not both."),
            _ => (database, directory),
        };

    private static BackupCompression CompressionOf(string text) => text switch
    {
        "zstd-optimal" => BackupCompression.ZstdOptimal,
        "gzip" => BackupCompression.GzipOptimal,
        "gzip-fastest" => BackupCompression.GzipFastest,
        "none" => BackupCompression.None,
        _ => BackupCompression.ZstdFastest,
    };

    private static async Task<string> BackupDirectoryAsync(
        Shell shell, string directory, BackupOutput output, BackupOptions options, KeyArgument? directoryKey,
        CancellationToken cancellationToken)
    {
        RequireDatabase(directory);
        using EncryptionKey? own = directoryKey?.Read(shell, $"'{directory}'", cancellationToken);
        await using Database database = Treepie.Database.Open(directory, new DatabaseOptions { EncryptionKey = own });
        BackupOptions all = options with { EncryptionKey = options.EncryptionKey ?? (options.AllowPlain ? null : own) };
        BackupReport report = await BackupDisplay.RunAsync(
            shell, output.Title,
            progress => output.WriteAsync(
                database.Name, all.EncryptionKey is not null,
                stream => database.BackupAsync(stream, all, progress, cancellationToken), cancellationToken));
        return $"Backed up to '{output.Title}': {Describe(report)}";
    }

    private static async Task<string> BackupOverHttpAsync(
        Shell shell, DatabaseClient database, BackupOutput output, BackupOptions options, CancellationToken cancellationToken)
    {
        bool sealsHere = options.EncryptionKey is not null;
        using HttpResponseMessage response = await database.BackupAsync(
            options, options.AllowPlain || sealsHere, cancellationToken);
        bool isSealed = sealsHere
            || (response.Headers.TryGetValues("Treepie-Sealed", out IEnumerable<string>? said) && said.First() == "true");
        return await BackupDisplay.RunAsync(
            shell, output.Title, progress => output.WriteAsync(database.Name, isSealed, async file =>
            {
                await using Stream dump = await response.Content.ReadAsStreamAsync(cancellationToken);
                await using var counted = new ObservedStream(file, BackupStep.Writing, 0, progress);
                if (options.EncryptionKey is null)
                {
                    await dump.CopyToAsync(counted, cancellationToken);
                }
                else
                {
                    await using var seal = new SealedWriteStream(counted, options.EncryptionKey, leaveOpen: true);
                    await dump.CopyToAsync(seal, cancellationToken);
                    await seal.CompleteAsync(cancellationToken);
                }

                return string.Create(
                    CultureInfo.InvariantCulture,
                    $"Backed up to '{output.Title}': {counted.Count / 1e6:N1} MB{(isSealed ? ", sealed" : "")}. 'treepie verify' "
                        + $"reads it again.");
            }, cancellationToken));
    }

    private static async Task<string> RestoreOverHttpAsync(
        Shell shell, ServerClient server, RestoreTarget target, string? path, string? from, EncryptionKey? key,
        CancellationToken cancellationToken)
    {
        using JsonDocument answer = await BackupPlaces.ReadAsync(
            path, from, (file, length, title) => BackupDisplay.RunAsync(shell, title, async progress =>
            {
                await using var observed = new ObservedStream(file, BackupStep.Reading, length, progress);
                if (key is null)
                    return await server.RestoreAsync(target, observed, cancellationToken);

                await using var seal = new SealedReadStream(observed, key, leaveOpen: true);
                return await server.RestoreAsync(target, seal, cancellationToken);
            }), cancellationToken);
        JsonElement counts = answer.RootElement;
        return string.Create(
            CultureInfo.InvariantCulture,
            $"Restored to database '{target.Name}': {counts.GetProperty("Documents").GetInt64():N0} documents, "
                + $"{counts.GetProperty("Indexes").GetInt64():N0} indexes.{SectionLines.Of(counts)}");
    }

    private static Task<BackupReport> ReadAsync(
        Shell shell,
        string? path,
        BackupOrigin? found,
        Func<Stream, IProgress<BackupProgress>, Task<BackupReport>> readFile,
        Func<IReadOnlyList<BackupPart>, BackupSelection, IProgress<BackupProgress>, Task<BackupReport>> readParts,
        CancellationToken cancellationToken) => found is null
        ? BackupPlaces.ReadAsync(
            path, null, (file, _, title) => BackupDisplay.RunAsync(shell, title, progress => readFile(file, progress)),
            cancellationToken)
        : BackupDisplay.RunAsync(shell, found.Title, progress => readParts(found.Selection.Parts, found.Selection, progress));

    private static string Describe(BackupReport report)
    {
        BackupCounts counts = report.Counts;
        string origin = report.DatabaseName is null
            ? ""
            : string.Create(
                CultureInfo.InvariantCulture,
                $" Database '{report.DatabaseName}' at etag {report.LastEtag}, {report.TakenAt:u}, content hash "
                    + $"{report.ContentHash}.");
        if (report.Kind != BackupKind.Logical)
        {
            string hash = report.ContentHash is null ? "" : $", content hash {report.ContentHash}";
            string time = report.LastCommitAt is { } at
                ? string.Create(CultureInfo.InvariantCulture, $" of {at:yyyy-MM-dd HH:mm:ss.fff}Z")
                : "";
            string counted = report.CountedAtCommit == report.LastCommit
                ? ""
                : string.Create(CultureInfo.InvariantCulture, $" (at commit {report.CountedAtCommit}, before the log)");
            return string.Create(
                CultureInfo.InvariantCulture,
                $"{counts.Documents:N0} documents, {counts.Tombstones:N0} tombstones, {counts.Indexes:N0} indexes{counted}; "
                    + $"{report.Pages:N0} pages and {report.LogCommits:N0} commits of the log, in {report.StoredBytes / 1e6:N1} "
                    + $"MB ({report.Compression}{(report.IsEncrypted ? ", sealed" : "")}). Database '{report.DatabaseName}' at "
                    + $"commit {report.LastCommit}{time}{hash}.{SectionLines.Of(report.Sections)}");
        }

        string skipped = report.Skipped.Count == 0
            ? ""
            : $" Left out: {string.Join(", ", report.Skipped.Select(Counted))}.";
        string sections = SectionLines.Of(report.Sections);
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{counts.Documents:N0} documents, {counts.Tombstones:N0} tombstones, {counts.Indexes:N0} indexes, "
                + $"{counts.Identities:N0} identities; {report.JsonBytes / 1e6:N1} MB of JSON in {report.StoredBytes / 1e6:N1} "
                + $"MB ({report.Compression}{(report.IsEncrypted ? ", sealed" : "")}).{origin}{skipped}{sections}");
    }

    private static string Counted(KeyValuePair<string, long> kind) =>
        string.Create(CultureInfo.InvariantCulture, $"{kind.Key} ({kind.Value:N0})");
}
