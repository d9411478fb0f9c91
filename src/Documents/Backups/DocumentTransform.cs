using System.Buffers;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// A compiled script that runs once for each document of an export or import. The document is <c>this</c>, with its
/// <c>@metadata</c>; what the script assigns is written. <c>throw 'skip'</c> and <c>return null</c> drop the document, with
/// everything that belongs to it. The script can load other documents and change none. Thread-safe. See
/// <see cref="BackupOptions.Transform"/> and <see cref="ImportOptions.Transform"/>.
/// </summary>
public sealed class DocumentTransform
{
    private const string Transform = "transform", Call = "call", Skip = "skip";

    private static readonly JsonDocumentOptions _reading = new() { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 };

    private readonly Script _script;

    private DocumentTransform(Script script) => _script = script;

    /// <summary>Compiles a script.</summary>
    /// <param name="script">Statements in JavaScript.</param>
    /// <param name="options">The options of the database, including the engine that compiles scripts:
    /// <see cref="DatabaseOptions.Computing"/>.</param>
    /// <exception cref="ScriptException">The script is not valid, or no engine is configured.</exception>
    public static DocumentTransform Compile(string script, DatabaseOptions options)
    {
        ArgumentNullException.ThrowIfNull(script);
        ArgumentNullException.ThrowIfNull(options);
        ComputingEngine engine = options.Computing
            ?? throw new ScriptException(
                "Scripts need an engine that compiles them: add the package Treepie.Computing, and set DatabaseOptions.Computing "
                    + "= new TextComputingEngine().");
        return new DocumentTransform(engine.CompileScript(
        [
            new ScriptFunction(Transform, [], script),
            new ScriptFunction(Call, [], $"if ({Transform}.call(this) === null) throw '{Skip}';"),
        ]));
    }

    /// <summary>Returns the document as the script leaves it; null if the script drops it.</summary>
    /// <param name="id">Its id, which stays.</param>
    /// <param name="json">The document with its metadata.</param>
    /// <param name="snapshot">What the script can load.</param>
    /// <param name="cancellationToken">Cancels the script.</param>
    /// <exception cref="BackupException">The script failed, or changed the id of the document.</exception>
    internal ReadOnlyMemory<byte>? Apply(
        string id, ReadOnlyMemory<byte> json, DatabaseSnapshot snapshot, CancellationToken cancellationToken)
    {
        var changed = new ArrayBufferWriter<byte>(json.Length + 256);
        try
        {
            var host = new SnapshotScriptHost(snapshot, static (_, _) => { }, [], new RowValues(snapshot, []), cancellationToken);
            _script.Call(Call, new ScriptCall(json, [], ReturnsThis: true), host, changed, cancellationToken);
        }
        catch (ScriptException error) when (error.Thrown == Skip)
        {
            return null;
        }
        catch (ScriptException error)
        {
            throw new BackupException(
                BackupFault.DocumentRefused, $"The script that transforms documents failed for '{id}'. {error.Message}", error);
        }

        return WithSystemMetadata(id, json, changed.WrittenMemory);
    }

    /// <summary>
    /// Returns a changed document with the entries of its metadata that the database sets, which no script can change.
    /// </summary>
    private static ReadOnlyMemory<byte> WithSystemMetadata(
        string id, ReadOnlyMemory<byte> before, ReadOnlyMemory<byte> after)
    {
        using var old = JsonDocument.Parse(before, _reading);
        using var changed = JsonDocument.Parse(after, _reading);
        var output = new ArrayBufferWriter<byte>(after.Length + 256);
        using (var json = new Utf8JsonWriter(output, new JsonWriterOptions { SkipValidation = true }))
        {
            json.WriteStartObject();
            foreach (JsonProperty member in changed.RootElement.EnumerateObject())
                if (!member.NameEquals("@metadata"u8))
                    member.WriteTo(json);
            json.WriteStartObject("@metadata"u8);
            foreach (JsonProperty entry in EntriesOf(changed))
                if (!IsSystem(entry))
                    entry.WriteTo(json);
                else if (entry.NameEquals("@id"u8) && !entry.Value.ValueEquals(id))
                    throw new BackupException(
                        BackupFault.DocumentRefused,
                        $"The script that transforms documents gives '{id}' another id, {entry.Value}. Ids stay as they are: put "
                            + "documents with other ids by a patch.");
            foreach (JsonProperty entry in EntriesOf(old))
                if (IsSystem(entry))
                    entry.WriteTo(json);
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return output.WrittenMemory;
    }

    private static JsonElement.ObjectEnumerator EntriesOf(JsonDocument document) =>
        document.RootElement.TryGetProperty("@metadata"u8, out JsonElement metadata)
            && metadata.ValueKind == JsonValueKind.Object
            ? metadata.EnumerateObject()
            : default;

    private static bool IsSystem(JsonProperty entry) =>
        entry.NameEquals("@id"u8) || entry.NameEquals("@change-vector"u8) || entry.NameEquals("@last-modified"u8);
}
