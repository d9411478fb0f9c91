using System.Globalization;
using Treepie.Encryption;
using Treepie.Server.Backups;
using Treepie.Server.Security;

namespace Treepie.Server.Hosting;

/// <summary>
/// Parses <c>--option value</c> and <c>--option=value</c>. Unknown options are errors. Settings in RavenDB's form,
/// <c>--Some.Key=value</c>, are accepted so that programs which start RavenDB with them can start this server: those with an
/// equivalent are applied, the others are reported as ignored.
/// </summary>
internal static class CommandLineParser
{
    /// <summary>One day: the maximum threshold for logging slow requests.</summary>
    private const int MostSlowSeconds = 86_400;

    /// <summary>Switches of RavenDB, and keys without a dot, that have no equivalent here.</summary>
    private static readonly string[] _ignoredNames = ["non-interactive", "no-setup-wizard", "log-to-console", "n", "l"];

    /// <exception cref="CommandLineException">An option is unknown, lacks its value, or has an invalid value.</exception>
    public static ProgramOptions Parse(IReadOnlyList<string> arguments)
    {
        var options = new ProgramOptions();
        var ignored = new List<string>();
        for (int i = 0; i < arguments.Count; i++)
        {
            (string name, string? value) = Split(arguments[i]);
            string Value() => value ?? (i + 1 < arguments.Count && !arguments[i + 1].StartsWith("--", StringComparison.Ordinal)
                ? arguments[++i]
                : throw new CommandLineException($"The option --{name} needs a value."));

            options = name switch
            {
                "data" => options with { DataDirectory = NotEmpty(name, Value()) },
                "urls" => options with { Urls = Addresses(name, Value()) },
                "public-url" => options with { PublicUrl = PublicUrl(name, Value()) },
                "certificate" => options with { Certificate = NotEmpty(name, Value()) },
                "certificate-key" => options with { CertificateKey = NotEmpty(name, Value()) },
                "certificate-password" => options with { CertificatePassword = Password(name, Value()) },
                "admin-certificate" =>
                    options with { AdminCertificates = [.. options.AdminCertificates, NotEmpty(name, Value())] },
                "metrics" => options with { Metrics = Switch(name, value) },
                "otlp-endpoint" => options with { OtlpEndpoint = Endpoint(name, Value()) },
                "slow-request-seconds" => options with { SlowRequests = TimeSpan.FromSeconds(Seconds(name, Value())) },
                "master-key" => options with { MasterKey = Source(name, Value()) },
                "database-key" => options with { DatabaseKeys = [.. options.DatabaseKeys, DatabaseKey(name, Value())] },
                "backup-folder" => options with
                {
                    BackupFolders =
                        [.. options.BackupFolders, Named(name, Value(), "a folder or s3://bucket/prefix", "nightly=/backups")]
                },
                "s3-endpoint" => options with { S3Endpoints = [.. options.S3Endpoints, Endpoint(name, Value())] },
                "key-source" => options with { KeySources = [.. options.KeySources, KeyName(name, Value())] },
                "demo" => options with { Demo = Switch(name, value) },
                "help" or "h" or "?" => options with { Help = Switch(name, value) },
                "version" => options with { Version = Switch(name, value) },
                _ when LimitOption.Find(name) is { } limit =>
                    options with { Limits = [.. options.Limits, (limit, limit.Parse(Value()))] },
                _ => Foreign(options, name, value, ignored),
            };
        }

        return options with { Ignored = ignored };
    }

    private static (string Name, string? Value) Split(string argument)
    {
        int dashes = argument.StartsWith("--", StringComparison.Ordinal) ? 2 : argument is "-h" or "-?" or "-n" or "-l" ? 1 : 0;
        if (dashes == 0)
            throw new CommandLineException($"'{argument}' is not an option; options begin with two dashes.");

        int equals = argument.IndexOf('=', StringComparison.Ordinal);
        return equals < 0 ? (argument[dashes..], null) : (argument[dashes..equals], argument[(equals + 1)..]);
    }

    private static ProgramOptions Foreign(ProgramOptions options, string name, string? value, List<string> ignored)
    {
        switch (name.ToUpperInvariant())
        {
            case "SERVERURL":
                return options with { Urls = Addresses(name, value ?? "") };

            case "DATADIR":
                return options with { DataDirectory = NotEmpty(name, value ?? "") };

            case "RUNINMEMORY":
                return Switch(name, value) ? options with { DataDirectory = null } : options;

            case "SECURITY.MASTERKEY.PATH":
                return options with { MasterKey = KeySource.FromFile(NotEmpty(name, value ?? "")) };

            case "PUBLICSERVERURL":
                return options with { PublicUrl = PublicUrl(name, value ?? "") };

            case "SECURITY.CERTIFICATE.PATH":
                return options with { Certificate = NotEmpty(name, value ?? "") };

            case "SECURITY.CERTIFICATE.PASSWORD":
                throw new CommandLineException(
                    $"The option --{name} puts a password where every account of this machine can read it. Say with "
                        + $"--certificate-password file:PATH or env:NAME where it is.");

            case "SECURITY.WELLKNOWNCERTIFICATES.ADMIN":
                return options with
                {
                    AdminCertificates =
                    [
                        .. options.AdminCertificates,
                        .. NotEmpty(name, value ?? "")
                            .Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
                    ]
                };

            case "TESTING.PARENTPROCESSID":
                return options with { ParentProcessId = (int)Number(name, value ?? "", int.MaxValue) };
        }

        bool isForeign = name.Contains('.', StringComparison.Ordinal)
            || _ignoredNames.Contains(name, StringComparer.OrdinalIgnoreCase);
        if (!isForeign)
            throw new CommandLineException($"There is no option --{name}. See --help for those there are.");

        ignored.Add($"--{name}");
        return options;
    }

    private static double Seconds(string name, string value) =>
        double.TryParse(value, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double seconds)
            && seconds <= MostSlowSeconds
            ? seconds
            : throw new CommandLineException(
                $"The option --{name} is '{value}'; it must be a number of seconds from 0 to {MostSlowSeconds}.");

    private static string[] Addresses(string name, string value)
    {
        string[] addresses = value.Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return addresses.Length > 0
            ? addresses
            : throw new CommandLineException($"The option --{name} needs an address, for instance http://127.0.0.1:8080.");
    }

    private static Uri PublicUrl(string name, string value) =>
        Uri.TryCreate(value, UriKind.Absolute, out Uri? url)
            && url.Scheme is "http" or "https"
            && url is { UserInfo.Length: 0, Query.Length: 0, Fragment.Length: 0 }
            ? url
            : throw new CommandLineException(
                $"The option --{name} is '{value}'; it must be the address by which clients reach the server, such as "
                    + $"https://db.example.com:8443.");

    private static SecretPlace Password(string name, string value) => SecretPlace.TryParse(value, out SecretPlace? place)
        ? place
        // the message does not quote the value
        : throw new CommandLineException(
            $"The option --{name} takes file:PATH or env:NAME, where the password is; never the password itself, which every "
                + $"account of this machine could read.");

    private static KeySource Source(string name, string value)
    {
        try
        {
            return KeySource.Parse(value);
        }
        catch (KeySourceException exception)
        {
            // its message does not quote the value, which may be a key
            throw new CommandLineException($"The option --{name}: {exception.Message}");
        }
    }

    private static (string Database, KeySource Source) DatabaseKey(string name, string value)
    {
        int equals = value.IndexOf('=', StringComparison.Ordinal);
        return equals > 0
            ? (value[..equals], Source(name, value[(equals + 1)..]))
            : throw new CommandLineException(
                $"The option --{name} needs the name of a database, '=', and where its key is, for instance --{name} "
                    + $"shop=file:/keys/shop.key.");
    }

    private static (string Name, KeySource Source) KeyName(string name, string value)
    {
        (string key, string source) = Named(name, value, "where its key is", "offsite=file:/keys/offsite.key");
        return (key, Source(name, source));
    }

    private static (string Name, string Value) Named(string name, string value, string what, string example)
    {
        int equals = value.IndexOf('=', StringComparison.Ordinal);
        if (equals <= 0 || equals == value.Length - 1)
            throw new CommandLineException(
                $"The option --{name} needs a name, '=', and {what}, for instance --{name} {example}.");
        try
        {
            AllowedPlaces.CheckName(value[..equals]);
        }
        catch (ArgumentException exception)
        {
            throw new CommandLineException($"The option --{name}: {exception.Message}");
        }

        return (value[..equals], value[(equals + 1)..]);
    }

    private static Uri Endpoint(string name, string value) =>
        Uri.TryCreate(value, UriKind.Absolute, out Uri? endpoint)
            && endpoint.Scheme is "http" or "https"
            && endpoint.UserInfo.Length == 0
            ? endpoint
            : throw new CommandLineException(
                $"The option --{name} is '{value}'; it must be an address such as https://minio.example:9000.");

    private static string NotEmpty(string name, string value) =>
        string.IsNullOrWhiteSpace(value) ? throw new CommandLineException($"The option --{name} needs a value.") : value;

    private static bool Switch(string name, string? value) => value is null
        || (bool.TryParse(value, out bool on)
            ? on
            : throw new CommandLineException($"The option --{name} is '{value}'; it can be true or false."));

    private static long Number(string name, string value, long most) =>
        long.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out long number) && number > 0 && number <= most
            ? number
            : throw new CommandLineException($"The option --{name} is '{value}'; it must be a whole number from 1 to {most}.");
}
