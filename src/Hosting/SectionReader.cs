using System.Collections.Frozen;
using System.Globalization;
using Microsoft.Extensions.Configuration;
using Treepie.Encryption;

namespace Treepie.Extensions.Hosting;

/// <summary>Reads the options of a database from a section of the configuration, without reflection.</summary>
internal static class SectionReader
{
    private static readonly FrozenDictionary<string, Action<TreepieHostingOptions, IConfigurationSection>> _settings =
        new Dictionary<string, Action<TreepieHostingOptions, IConfigurationSection>>
        {
            ["Path"] = static (options, given) => options.Path = given.Value,
            ["InMemory"] = static (options, given) => options.InMemory = Flag(given),
            ["Key"] = static (options, given) => options.Key = Key(given),
            ["SlowQueries"] = static (options, given) => options.SlowQueries = Time(given),
            ["BackgroundChecks"] = static (options, given) => options.BackgroundChecks = Time(given),
            ["Name"] = static (options, given) => options.Database = options.Database with { Name = given.Value },
            ["MaxQueryTime"] = static (options, given) =>
                options.Database = options.Database with { MaxQueryTime = Time(given) },
            ["DefaultStaleWait"] = static (options, given) =>
                options.Database = options.Database with { DefaultStaleWait = Time(given) },
            ["TombstoneRetention"] = static (options, given) =>
                options.Database = options.Database with { TombstoneRetention = Time(given) },
            ["MaxDocumentBytes"] = static (options, given) =>
                options.Database = options.Database with { MaxDocumentBytes = checked((int)Number(given, int.MaxValue)) },
            ["MaxAttachmentBytes"] = static (options, given) =>
                options.Database = options.Database with { MaxAttachmentBytes = Number(given, long.MaxValue) },
        }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    /// <summary>Sets what a section has.</summary>
    /// <exception cref="InvalidOperationException">A setting is unknown, or its value cannot be read.</exception>
    public static void Read(IConfiguration section, TreepieHostingOptions options)
    {
        foreach (IConfigurationSection given in section.GetChildren())
            if (_settings.TryGetValue(given.Key, out Action<TreepieHostingOptions, IConfigurationSection>? set))
                set(options, given);
            else
                throw new InvalidOperationException(
                    $"'{given.Path}' of the configuration is no setting of a database. There are "
                        + $"{string.Join(", ", _settings.Keys.Order(StringComparer.Ordinal))}.");
    }

    private static bool Flag(IConfigurationSection given) =>
        bool.TryParse(given.Value, out bool flag) ? flag : throw Wrong(given, "'true' or 'false'");

    private static TimeSpan Time(IConfigurationSection given) =>
        TimeSpan.TryParse(given.Value, CultureInfo.InvariantCulture, out TimeSpan time)
            ? time
            : throw Wrong(given, "a time such as '00:00:30', or '2.00:00:00' for two days");

    private static long Number(IConfigurationSection given, long most) =>
        long.TryParse(given.Value, NumberStyles.None, CultureInfo.InvariantCulture, out long number) && number <= most
            ? number
            : throw Wrong(given, $"a whole number up to {most.ToString("N0", CultureInfo.InvariantCulture)}");

    private static KeySource? Key(IConfigurationSection given)
    {
        try
        {
            return string.IsNullOrEmpty(given.Value) ? null : KeySource.Parse(given.Value);
        }
        catch (KeySourceException error)
        {
            throw new InvalidOperationException(
                $"'{given.Path}' of the configuration is no source of a key: {error.Message}", error);
        }
    }

    private static InvalidOperationException Wrong(IConfigurationSection given, string expected) =>
        new($"'{given.Path}' of the configuration is '{given.Value}'. Expected is {expected}.");
}
