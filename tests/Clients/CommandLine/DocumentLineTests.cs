using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.CommandLine.Import;

namespace Treepie.Clients.Tests.CommandLine;

public sealed class DocumentLineTests
{
    private static readonly ImportOptions _toPeople = new() { Collection = "People" };

    [Theory]
    [InlineData("""{"a":1,"b":[2,{"c":null}]}""", """{"@metadata":{"@collection":"People"},"a":1,"b":[2,{"c":null}]}""")]
    [InlineData(""" { "a" : 1 } """, """{"@metadata":{"@collection":"People"},"a" : 1}""")]
    [InlineData("{}", """{"@metadata":{"@collection":"People"}}""")]
    [InlineData("""{"@metadata":{}}""", """{"@metadata":{"@collection":"People"}}""")]
    [InlineData(
        """{"@metadata":{"@id":"x/1","@change-vector":"A:1","tag":[1]},"a":1}""",
        """{"@metadata":{"@collection":"People","tag":[1]},"a":1}""")]
    [InlineData(
        """{"a":1 , "@metadata" : {"@collection":"Old"} , "b":",,"}""",
        """{"@metadata":{"@collection":"People"},"a":1,"b":",,"}""")]
    [InlineData(
        """{"a":"\u0041 ä 東","@metadata":{"@last-modified":"x"}}""",
        """{"@metadata":{"@collection":"People"},"a":"\u0041 ä 東"}""")]
    public void Document_is_kept_byte_for_byte_beside_its_metadata(string line, string expected)
    {
        using JsonDocument command = Command(line, _toPeople, out _);
        Assert.Equal(expected, command.RootElement.GetProperty("Document").GetRawText());
        Assert.Equal("PUT", command.RootElement.GetProperty("Type").GetString());
    }

    [Fact]
    public void Documents_must_not_exist_unless_they_are_to_be_replaced()
    {
        using JsonDocument careful = Command("{}", _toPeople, out _);
        using JsonDocument bold = Command("{}", _toPeople with { Overwrite = true }, out _);
        Assert.Equal("", careful.RootElement.GetProperty("ChangeVector").GetString());
        Assert.False(bold.RootElement.TryGetProperty("ChangeVector", out _));
    }

    [Theory]
    [InlineData("""{"name":"Ann"}""", null, null, "people/7")]
    [InlineData("""{"name":"Ann"}""", null, "p-", "p-7")]
    [InlineData("""{"name":"Ann"}""", "name", null, "Ann")]
    [InlineData("""{"name":"Ann"}""", "name", "people/", "people/Ann")]
    [InlineData("""{"n":{"name":"no"},"name":42.50}""", "name", "x/", "x/42.50")]
    [InlineData("""{"@metadata":{"@id":"own/1"},"name":"Ann"}""", null, null, "own/1")]
    [InlineData("""{"@metadata":{"@id":"own/1"},"name":"Ann"}""", "name", null, "Ann")]
    [InlineData("""{"@metadata":{"@id":"own/1"},"name":"Ann"}""", null, "p/", "p/7")]
    [InlineData("""{"name":"quote \" and \\ and ü"}""", "name", null, "quote \" and \\ and ü")]
    public void Id_is_that_of_the_field_or_the_metadata_or_the_line(string line, string? field, string? prefix, string expected)
    {
        using JsonDocument command = Command(line, _toPeople with { IdField = field, IdPrefix = prefix }, out string id);
        Assert.Equal(expected, id);
        Assert.Equal(expected, command.RootElement.GetProperty("Id").GetString());
    }

    [Fact]
    public void Collection_of_an_export_is_taken_over()
    {
        using JsonDocument command = Command("""{"@metadata":{"@collection":"Cats"}}""", new ImportOptions(), out string id);
        Assert.Equal(
            "Cats", command.RootElement.GetProperty("Document").GetProperty("@metadata").GetProperty("@collection").GetString());
        Assert.Equal("cats/7", id);
    }

    [Theory]
    [InlineData("", "not valid JSON")]
    [InlineData("{\"a\":1", "not valid JSON")]
    [InlineData("{\"a\":01}", "not valid JSON")]
    [InlineData("[1]", "not a JSON object but an array")]
    [InlineData("17", "not a JSON object but a number")]
    [InlineData("null", "not a JSON object but null")]
    [InlineData("{} {}", "not valid JSON")]
    [InlineData("""{"@metadata":1}""", "its @metadata is not an object but a number")]
    [InlineData("""{"@metadata":{},"@metadata":{}}""", "has @metadata twice")]
    public void Lines_that_are_no_documents_are_refused_with_the_reason(string line, string reason)
    {
        var output = new ArrayBufferWriter<byte>();
        LineProblem? problem = DocumentLine.Write(Encoding.UTF8.GetBytes(line), 7, _toPeople, output, out _);
        Assert.NotNull(problem);
        Assert.Equal(7, problem.Line);
        Assert.Contains(reason, problem.Message, StringComparison.Ordinal);
        Assert.Equal(0, output.WrittenCount);
    }

    [Theory]
    [InlineData("""{"name":["Ann"]}""")]
    [InlineData("""{"nome":"Ann"}""")]
    public void Field_of_the_id_must_be_there_with_a_string_or_number(string line)
    {
        LineProblem? problem = DocumentLine.Write(
            Encoding.UTF8.GetBytes(line), 3, _toPeople with { IdField = "name" }, new ArrayBufferWriter<byte>(), out _);
        Assert.Contains("'name'", problem?.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Text_that_is_not_utf8_is_refused_with_its_place()
    {
        byte[] line = [.. "{\"a\":\"ab"u8, 0xC3, 0x28, .. "\"}"u8];
        LineProblem? problem = DocumentLine.Write(line, 1, _toPeople, new ArrayBufferWriter<byte>(), out _);
        Assert.Equal("not valid UTF-8 at byte 8", problem?.Message);
    }

    [Fact]
    public void Deep_nesting_is_left_to_the_server_to_judge()
    {
        string line = $$"""{"a":{{new string('[', 100_000)}}{{new string(']', 100_000)}}}""";
        Assert.Null(DocumentLine.Write(Encoding.UTF8.GetBytes(line), 1, _toPeople, new ArrayBufferWriter<byte>(), out _));
    }

    private static JsonDocument Command(string line, ImportOptions options, out string id)
    {
        var output = new ArrayBufferWriter<byte>();
        Assert.Null(DocumentLine.Write(Encoding.UTF8.GetBytes(line), 7, options, output, out id));
        return JsonDocument.Parse(output.WrittenMemory);
    }
}
