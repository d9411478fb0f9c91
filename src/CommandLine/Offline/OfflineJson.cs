using System.Text.Json;
using Treepie.Storage;

namespace Treepie.CommandLine.Offline;

/// <summary>Writes reports as one JSON object to standard output.</summary>
internal static class OfflineJson
{
    public static void Write(Shell shell, Action<Utf8JsonWriter> content)
    {
        using (var writer = new Utf8JsonWriter(shell.Output, new JsonWriterOptions { Indented = true }))
        {
            writer.WriteStartObject();
            content(writer);
            writer.WriteEndObject();
        }

        shell.Output.Write("\n"u8);
        shell.Output.Flush();
    }

    public static void WriteProblems(Utf8JsonWriter writer, IReadOnlyList<CheckProblem> problems, long count)
    {
        writer.WriteNumber("problemCount", count);
        writer.WriteStartArray("problems");
        foreach (CheckProblem problem in problems)
        {
            writer.WriteStartObject();
            writer.WriteString("file", problem.File);
            if (problem.Page is { } page)
                writer.WriteNumber("page", page);
            if (problem.Tree is { } tree)
                writer.WriteString("tree", tree);
            writer.WriteString("what", problem.What);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    public static void WriteRanges(Utf8JsonWriter writer, string name, IReadOnlyList<KeyRange> ranges)
    {
        writer.WriteStartArray(name);
        foreach (KeyRange range in ranges)
            writer.WriteStringValue(range.ToString());
        writer.WriteEndArray();
    }
}
