using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Where an index lies: a directory of its own with <c>definition.json</c> and its store. The definition is written last when an
/// index is made and deleted first when it goes, each in one step; a directory without it is left over from a crash and swept away
/// at the next start. A new directory never takes the name of an old one, so an index can be made while its predecessor is still read.
/// </summary>
internal sealed class IndexDirectory
{
    private const string DefinitionFile = "definition.json";
    private const int Version = 1;

    private IndexDirectory(string path, long generation)
    {
        Path = path;
        Generation = generation;
    }

    public string Path { get; }

    /// <summary>Greater for a later directory.</summary>
    public long Generation { get; }

    /// <summary>Directory of the store.</summary>
    public string StorePath => System.IO.Path.Combine(Path, "store");

    /// <summary>Makes a directory for an index, without its definition.</summary>
    public static IndexDirectory Create(string parent, AutoIndexDefinition definition, long generation)
    {
        string path = System.IO.Path.Combine(parent, string.Create(CultureInfo.InvariantCulture, $"{SafeName(definition.Name)}.{generation}"));
        Directory.CreateDirectory(path);
        return new IndexDirectory(path, generation);
    }

    /// <summary>All indexes below a directory. What a crash left over, or cannot be read, is deleted: queries make it again.</summary>
    public static IReadOnlyList<(IndexDirectory Directory, AutoIndexDefinition Definition)> Scan(string parent)
    {
        var found = new Dictionary<string, (IndexDirectory Directory, AutoIndexDefinition Definition)>(StringComparer.OrdinalIgnoreCase);
        foreach (string path in Directory.EnumerateDirectories(parent))
        {
            string suffix = System.IO.Path.GetExtension(path);
            bool isNumbered = long.TryParse(suffix.AsSpan(Math.Min(1, suffix.Length)), NumberStyles.None, CultureInfo.InvariantCulture, out long generation);
            var directory = new IndexDirectory(path, generation);
            AutoIndexDefinition? definition = isNumbered ? directory.ReadDefinition() : null;
            if (definition is null)
            {
                directory.Delete();
                continue;
            }

            if (found.TryGetValue(definition.Name, out var other))
                (generation > other.Directory.Generation ? other.Directory : directory).Delete();
            if (other.Directory is null || generation > other.Directory.Generation)
                found[definition.Name] = (directory, definition);
        }

        return [.. found.Values.OrderBy(f => f.Directory.Generation)];
    }

    /// <summary>Writes the definition: from now on the index exists.</summary>
    public void Publish(AutoIndexDefinition definition)
    {
        string file = System.IO.Path.Combine(Path, DefinitionFile);
        string temporary = file + ".new";
        using (var stream = new FileStream(temporary, FileMode.Create, FileAccess.Write))
        {
            using (var writer = new Utf8JsonWriter(stream, new JsonWriterOptions { Indented = true }))
                Write(writer, definition);
            stream.Flush(flushToDisk: true);
        }

        File.Move(temporary, file, overwrite: true);
    }

    /// <summary>Deletes the definition: from now on the index does not exist.</summary>
    public void Retract() => File.Delete(System.IO.Path.Combine(Path, DefinitionFile));

    /// <summary>Deletes the store, so that it is built again.</summary>
    public void DeleteStore()
    {
        if (Directory.Exists(StorePath))
            Directory.Delete(StorePath, recursive: true);
    }

    /// <summary>Deletes everything.</summary>
    public void Delete()
    {
        Retract();
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }

    private static void Write(Utf8JsonWriter writer, AutoIndexDefinition definition)
    {
        writer.WriteStartObject();
        writer.WriteNumber("Version"u8, Version);
        writer.WriteString("Name"u8, definition.Name);
        writer.WriteString("Collection"u8, definition.Collection);
        writer.WriteStartArray("Fields"u8);
        foreach (AutoIndexField field in definition.Fields)
        {
            writer.WriteStartObject();
            writer.WriteString("Path"u8, field.Path);
            writer.WriteString("Kind"u8, field.Kind.ToString());
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }

    private AutoIndexDefinition? ReadDefinition()
    {
        string file = System.IO.Path.Combine(Path, DefinitionFile);
        if (!File.Exists(file))
            return null;

        try
        {
            using JsonDocument json = JsonDocument.Parse(File.ReadAllBytes(file));
            JsonElement root = json.RootElement;
            if (root.GetProperty("Version"u8).GetInt32() != Version)
                return null;

            var fields = new List<AutoIndexField>();
            foreach (JsonElement field in root.GetProperty("Fields"u8).EnumerateArray())
                if (field.GetProperty("Path"u8).GetString() is { } path && Enum.TryParse(field.GetProperty("Kind"u8).GetString(), out AutoIndexFieldKind kind))
                    fields.Add(new AutoIndexField(path, kind));

            return root.GetProperty("Collection"u8).GetString() is { } collection ? new AutoIndexDefinition(collection, fields) : null;
        }
        catch (Exception error) when (error is JsonException or KeyNotFoundException or InvalidOperationException or FormatException)
        {
            return null;
        }
    }

    /// <summary>A name every file system takes: the readable part of the index's name and a hash of the whole.</summary>
    private static string SafeName(string name)
    {
        const int MaxReadable = 80;
        string hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(name)).AsSpan(0, 4));
        string readable = string.Create(Math.Min(name.Length, MaxReadable), name, static (output, source) =>
        {
            for (int i = 0; i < output.Length; i++)
                output[i] = char.IsAsciiLetterOrDigit(source[i]) || source[i] is '-' or '_' ? source[i] : '_';
        });
        return $"{readable}-{hash}";
    }
}
