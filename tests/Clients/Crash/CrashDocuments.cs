using System.Globalization;
using System.Text.Json;

namespace Treepie.Clients.Tests.Crash;

/// <summary>
/// The documents of the crash test. All of a document follows from its id, so that a wrong byte is seen without keeping what was
/// sent.
/// </summary>
internal static class CrashDocuments
{
    /// <summary>Documents that share a batch and must be there together or not at all.</summary>
    public const int PerBatch = 10;

    public static string BatchId(int writer, int batch, int index) => Invariant($"batches/{writer}/{batch:D6}/{index}");

    /// <summary>Rewritten by every batch of a writer: the number of the last.</summary>
    public static string LastId(int writer) => Invariant($"last/{writer}");

    /// <summary>Put by one batch, deleted by the next: always exactly one per writer.</summary>
    public static string BatonId(int writer, int batch) => Invariant($"batons/{writer}/{batch:D6}");

    public static string BulkId(int run, int index) => Invariant($"bulk/{run:D6}/{index:D6}");

    /// <summary>From nothing to 3 KB, so that documents cross pages here and there.</summary>
    public static string Payload(string id)
    {
        uint hash = 2166136261;
        foreach (char c in id)
            hash = (hash ^ c) * 16777619;

        int length = (int)(hash % 17 == 0 ? hash % 3000 : hash % 300);
        return string.Create(length, hash, static (text, state) =>
        {
            for (int i = 0; i < text.Length; i++)
            {
                state = state * 1664525 + 1013904223;
                text[i] = (char)('a' + (state >> 24) % 26);
            }
        });
    }

    public static void WriteDocument(Utf8JsonWriter writer, string id, string collection)
    {
        writer.WriteStartObject();
        writer.WriteString("Payload", Payload(id));
        WriteCollection(writer, collection);
        writer.WriteEndObject();
    }

    public static void WriteCollection(Utf8JsonWriter writer, string collection)
    {
        writer.WriteStartObject("@metadata");
        writer.WriteString("@collection", collection);
        writer.WriteEndObject();
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
